"""What all test peers share: arguments, the ready file, the tally, and the one line they print.

A peer never outlives --seconds. It prints one JSON object on one line and exits 0, or 1 with
`"end": "deadline"` where the time ran out, or with `"error"` where it could not do its part.
"""

import argparse
import errno
import hashlib
import json
import os
import random
import signal
import socket
import struct
import sys


def parser(description, listens=False):
    """The arguments of every peer; a listening one may let the system choose its port."""
    result = argparse.ArgumentParser(description=description.splitlines()[0])
    result.add_argument("--host", default="127.0.0.1")
    result.add_argument("--port", type=int, required=not listens, default=0)
    result.add_argument("--seconds", type=float, default=30, help="the most it may take")
    if listens:
        result.add_argument("--ready-file", help="written with HOST:PORT once it listens")
    return result


def ready(arguments, address):
    """Says where it listens: whole or not at all."""
    if arguments.ready_file:
        temporary = f"{arguments.ready_file}.{os.getpid()}"
        with open(temporary, "w") as file:
            print(f"{address[0]}:{address[1]}", file=file)
        os.rename(temporary, arguments.ready_file)


def report(result, failed=False):
    """Prints the one line and ends the process, whatever still runs in it."""
    print(json.dumps(result), flush=True)
    sys.stdout.flush()
    os._exit(1 if failed else 0)


def bounded(arguments, unfinished):
    """Ends the process at its deadline, with what `unfinished()` has to tell until then."""

    def deadline(*_):
        report({**unfinished(), "end": "deadline"}, failed=True)

    signal.signal(signal.SIGALRM, deadline)
    signal.setitimer(signal.ITIMER_REAL, arguments.seconds)


class Messages:
    """Counts messages and hashes them, kind and length included: order and borders count."""

    def __init__(self):
        self.hash = hashlib.sha256()
        self.text = self.binary = self.bytes = 0

    def add(self, message):
        is_text = isinstance(message, str)
        data = message.encode("utf-8", "surrogatepass") if is_text else bytes(message)
        self.text += is_text
        self.binary += not is_text
        self.bytes += len(data)
        self.hash.update(struct.pack("!BQ", is_text, len(data)) + data)

    def result(self):
        return {
            "text": self.text, "binary": self.binary, "bytes": self.bytes,
            "sha256": self.hash.hexdigest(),
        }


class Octets:
    """Counts bytes and hashes them."""

    def __init__(self):
        self.hash = hashlib.sha256()
        self.bytes = 0

    def add(self, data):
        self.hash.update(data)
        self.bytes += len(data)

    def result(self):
        return {"bytes": self.bytes, "sha256": self.hash.hexdigest()}


def message_arguments(result):
    result.add_argument("--messages", type=int, default=100)
    result.add_argument("--size", type=int, default=200, help="the mean of a message's length")
    result.add_argument("--kind", choices=["text", "binary", "mixed"], default="mixed")
    result.add_argument("--window", type=int, default=8, help="messages that are under way at once")
    result.add_argument("--compress", action="store_true", help="offer permessage-deflate")
    result.add_argument("--close-code", type=int, default=1000)
    result.add_argument("--close-reason", default="")
    result.add_argument("--seed", type=int, default=1)


def seeded_messages(arguments):
    """The same messages for the same arguments; lengths are exponential, text repeats itself."""
    chance = random.Random(arguments.seed)
    alphabet = "abcdefgh ijklmnop äöü 微信通讯录 \U0001f4f1{}\":,\\\n"
    for number in range(arguments.messages):
        length = min(int(chance.expovariate(1 / max(arguments.size, 1))), 64 * arguments.size)
        is_text = arguments.kind == "text" or arguments.kind == "mixed" and number % 3 != 2
        if is_text:
            word = "".join(chance.choices(alphabet, k=min(length, 500)))
            yield (word * (length // max(len(word), 1) + 1))[:length]
        else:
            yield chance.randbytes(length)


def end_of(error):
    """The kind of end that an exception of a socket stands for."""
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if isinstance(error, (ConnectionResetError, BrokenPipeError)) or getattr(
        error, "errno", None
    ) == errno.ENOTCONN:
        return "reset"
    if isinstance(error, (TimeoutError, socket.timeout)):
        return "timeout"
    return f"error: {error}"
