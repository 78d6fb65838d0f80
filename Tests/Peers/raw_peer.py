"""One end of a TCP connection that sends what no library would, and hashes all that it gets.

Two of them, one on each side of a proxy, tell whether a byte was altered: what one has sent, the
other must have received. `--role client` connects, `--role server` waits for one connection.

A scenario is what this end sends, in steps. With --answer a server first reads a request's head and
answers it: `upgrade` with 101, `http` with a short 200, `none` reads and says nothing, `echo` sends
each byte back. Before its scenario a client sends an upgrade request and waits for an answer's head
(so give the server an --answer), unless the scenario begins before the handshake.

Prints {"scenario", "sent": {"bytes", "sha256"}, "received": {...}, "end": "fin" | "reset" |
"timeout" | "refused" | "closed" (by this end, after a reset of its own)}. --list names the scenarios.
"""

import base64
import hashlib
import os
import random
import select
import socket
import ssl
import struct
import sys
import time

import peer

BLOCK = 1 << 16
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="


def frame(opcode, payload=b"", fin=True, rsv=0, mask=None, form=None, length=None):
    """Any frame at all: `form` 7, 16 or 64 forces the length's form, `length` lies about it."""
    count = len(payload) if length is None else length
    form = form or (7 if count < 126 else 16 if count < 65536 else 64)
    first = (0x80 if fin else 0) | rsv << 4 | opcode
    masked = 0x80 if mask else 0
    if form == 7:
        head = struct.pack("!BB", first, masked | count)
    elif form == 16:
        head = struct.pack("!BBH", first, masked | 126, count)
    else:
        head = struct.pack("!BBQ", first, masked | 127, count)
    if mask:
        payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        head += mask
    return head + payload


MASK = b"\x12\x34\x56\x78"
HALF_CLOSE, RESET = object(), object()


class Pause(float):
    """Seconds in which this end neither sends nor reads."""


# Each takes the mask that this end's frames should have, and a seeded source of chance.
def invalid_utf8(mask, _):
    yield frame(1, b"\xff\xfe\xfd", mask=mask)
    yield frame(1, b"\xed\xa0\x80 surrogate", mask=mask)
    yield frame(1, b"cut \xe5\xbe", fin=False, mask=mask) + frame(0, b"\xae here", mask=mask)
    yield frame(1, b"overlong \xc0\xaf", mask=mask)


def reserved_opcodes(mask, _):
    for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
        yield frame(opcode, b"opcode %d" % opcode, mask=mask)


def reserved_bits(mask, _):
    for rsv in range(1, 8):
        yield frame(1, b'{"id":"rsv"}', rsv=rsv, mask=mask)


def odd_control(mask, _):
    yield frame(9, bytes(200), mask=mask)
    yield frame(9, b"in two ", fin=False, mask=mask) + frame(0, b"parts", mask=mask)
    yield frame(10, b"not asked for", mask=mask)
    yield frame(8, b"\x03", mask=mask)


def long_forms(mask, _):
    yield frame(1, b"hello", form=16, mask=mask)
    yield frame(1, b"hello", form=64, mask=mask)
    yield frame(9, b"", form=64, mask=mask)


def wrong_mask(mask, _):
    """A client's frames without a mask, a server's with one."""
    yield frame(1, b'{"id":"heartbeat"}', mask=None if mask else MASK)
    yield frame(1, b'{"id":"heartbeat"}', mask=mask)


def odd_fragments(mask, _):
    yield frame(0, b"continues nothing", mask=mask)
    yield frame(1, b"begun ", fin=False, mask=mask) + frame(1, b"begun again", mask=mask)
    yield frame(0, b"", fin=False, mask=mask) * 50
    yield frame(9, b"between", mask=mask) + frame(0, b"end", mask=mask)


def odd_close(mask, _):
    yield frame(8, struct.pack("!H", 1005) + b"reserved code", mask=mask)
    yield frame(1, b"after the close frame", mask=mask)
    yield frame(8, struct.pack("!H", 65535) + b"\xff\xff", mask=mask)


def huge_length(mask, _):
    """A frame that claims 2^63 - 1 bytes and ends after a few."""
    yield frame(2, b"only this", length=(1 << 63) - 1, form=64, mask=mask)


def impossible_length(mask, _):
    """A frame whose length has its highest bit set."""
    yield frame(2, b"only this", length=(1 << 64) - 1, form=64, mask=mask)


def garbage(mask, chance):
    """A good frame, then anything."""
    yield frame(1, b'{"id":"heartbeat"}', mask=mask)
    for _ in range(20):
        yield chance.randbytes(chance.randrange(1, 5000))


def garbage_first(_, chance):
    """Anything, before a handshake."""
    yield bytes([0x80 | chance.randrange(128)]) + chance.randbytes(3000)
    yield chance.randbytes(3000)


def early_frames(mask, _):
    """Frames glued to the upgrade request, before any answer to it."""
    yield upgrade_request() + frame(1, b'{"id":"heartbeat"}', mask=mask) * 3


def tls_hello(_, __):
    """The first flight of a client that believes in TLS."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    session = context.wrap_bio(incoming, outgoing, server_hostname="board.example")
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        yield outgoing.read()


def http2_preface(_, __):
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"


def odd_http(_, __):
    """Requests that servers and proxies read differently."""
    yield b"GET /a HTTP/1.1\nHost: bare line feeds\n\n"
    yield b"GET  /b  HTTP/1.1\r\nHost : space before the colon\r\n folded: yes\r\n\r\n"
    yield b"POST /c HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield b"4;name=\"value\"\r\nabcd\r\n0004\r\nefgh\r\n0\r\nTrailer: one\r\n\r\n"
    yield b"POST /d HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"
    yield b"POST /e HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnot a size"


def bare_fin_in_head(_, __):
    yield b"GET /api/phone-bridge/status HTTP/1.1\r\nHost: 192.168."
    yield HALF_CLOSE


def half_close(_, __):
    """All is said at once, and the answer is still wanted."""
    yield b"GET /api/phone-bridge/status HTTP/1.0\r\n\r\n"
    yield HALF_CLOSE


def half_close_websocket(mask, _):
    yield frame(1, b'{"id":"heartbeat"}', mask=mask)
    yield HALF_CLOSE


def fin_in_frame(mask, _):
    yield frame(1, b"half of it", length=100, mask=mask)
    yield HALF_CLOSE


def reset_in_frame(mask, _):
    yield frame(1, b"half of it", length=100, mask=mask)
    yield RESET


def reset(mask, _):
    yield frame(1, b'{"id":"heartbeat"}', mask=mask)
    yield RESET


def reset_first(_, __):
    """A connection that is reset before it said anything."""
    yield RESET


def byte_by_byte(mask, _):
    for byte in b"".join(frame(1, b'{"id":"heartbeat","n":%d}' % n, mask=mask) for n in range(20)):
        yield bytes([byte])


def silent(_, __):
    yield from ()


def stuck(mask, chance):
    """Sends a little and then reads nothing for --pause seconds; then it reads everything."""
    yield frame(1, b'{"id":"heartbeat"}', mask=mask)
    yield Pause(arguments.pause)


def flood(mask, chance):
    """Valid frames, --flood bytes of them, as fast as they go."""
    block = frame(2, chance.randbytes(60000), mask=None if not mask else MASK)
    for _ in range(-(-arguments.flood // len(block))):
        yield block


SCENARIOS = {
    function.__name__.replace("_", "-"): function
    for function in (
        invalid_utf8, reserved_opcodes, reserved_bits, odd_control, long_forms, wrong_mask,
        odd_fragments, odd_close, huge_length, impossible_length, garbage, garbage_first,
        early_frames, tls_hello, http2_preface, odd_http, bare_fin_in_head, half_close,
        half_close_websocket, fin_in_frame, reset_in_frame, reset, reset_first, byte_by_byte,
        silent, stuck, flood,
    )
}
BEFORE_HANDSHAKE = {
    "garbage-first", "early-frames", "tls-hello", "http2-preface", "odd-http", "bare-fin-in-head",
    "half-close", "reset-first", "silent",
}


def upgrade_request():
    return (
        b"GET /api/phone-bridge?platform=ios HTTP/1.1\r\nHost: 192.168.42.1:8080\r\n"
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: " + KEY + b"\r\n\r\n"
    )


def upgrade_answer(head):
    key = next(
        (line.split(b":", 1)[1].strip() for line in head.split(b"\r\n")
         if line.lower().startswith(b"sec-websocket-key:")),
        KEY,
    )
    accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-Websocket-Accept: " + accept + b"\r\n\r\n"
    )


class Ended(Exception):
    """The other end is done, one way or another."""


class End:
    """A connection that sends and receives at once: two of them never wait for each other."""

    def __init__(self, connection):
        self.connection = connection
        self.sent, self.received = peer.Octets(), peer.Octets()
        self.peer_is_done = False
        self.is_done = False
        self.echo = False

    def read(self):
        """Takes what is there; nothing after the other end's FIN."""
        try:
            data = self.connection.recv(BLOCK)
        except ConnectionResetError:
            raise Ended("reset") from None
        if not data:
            self.peer_is_done = True
        self.received.add(data)
        return data

    def send(self, data):
        view = memoryview(data)
        while view:
            wanted = [] if self.peer_is_done else [self.connection]
            readable, writable, _ = select.select(wanted, [self.connection], [], remaining())
            if not readable and not writable:
                raise Ended("timeout")
            if readable:
                self.read()
            if writable:
                try:
                    count = self.connection.send(view)
                except (BrokenPipeError, ConnectionResetError):
                    # What arrived before the reset still counts.
                    raise Ended("reset") from None
                self.sent.add(view[:count])
                view = view[count:]

    def finish(self):
        """Sends a FIN, once."""
        if not self.is_done:
            self.connection.shutdown(socket.SHUT_WR)
        self.is_done = True

    def head(self):
        """Reads to the end of a head; what follows it is counted as well."""
        head = b""
        while b"\r\n\r\n" not in head and not self.peer_is_done:
            self.connection.settimeout(remaining())
            try:
                head += self.read()
            except TimeoutError:
                raise Ended("timeout") from None
            finally:
                self.connection.setblocking(False)
        return head

    def read_to_the_end(self):
        while not self.peer_is_done:
            if not select.select([self.connection], [], [], remaining())[0]:
                raise Ended("timeout")
            data = self.read()
            if self.echo:
                self.send(data)


def remaining():
    return max(0.0, started + arguments.seconds - 1 - time.monotonic())


def play(end):
    """Plays this end's part; the result is how it ended."""
    name, server = arguments.scenario, arguments.role == "server"
    end.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    end.connection.setblocking(False)
    try:
        if server and arguments.answer in ("upgrade", "http"):
            head = end.head()
            if arguments.answer == "upgrade":
                end.send(upgrade_answer(head))
            else:
                end.send(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
        if not server and name not in BEFORE_HANDSHAKE:
            end.send(upgrade_request())
            end.head()
        end.echo = server and arguments.answer == "echo"
        chance = random.Random(arguments.seed)
        for step in SCENARIOS[name](None if server else MASK, chance):
            if step is HALF_CLOSE:
                end.finish()
            elif step is RESET:
                end.connection.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
                end.connection.close()
                return "closed"
            elif isinstance(step, Pause):
                time.sleep(min(step, remaining()))
            else:
                end.send(step)
        if arguments.end_first:
            end.finish()
        end.read_to_the_end()
        return "fin"
    except Ended as ended:
        return str(ended)
    except OSError as error:
        return peer.end_of(error)
    finally:
        end.connection.close()


parser = peer.parser(__doc__, listens=True)
parser.add_argument("--role", choices=["client", "server"])
parser.add_argument("--scenario", choices=SCENARIOS, default="silent", metavar="NAME")
parser.add_argument("--answer", choices=["none", "upgrade", "http", "echo"], default="none")
parser.add_argument("--end-first", action="store_true", help="send FIN once all is sent")
parser.add_argument("--pause", type=float, default=2)
parser.add_argument("--flood", type=int, default=8 << 20)
parser.add_argument("--receive-buffer", type=int, help="bytes; a small one for a stuck reader")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--list", action="store_true")
arguments = parser.parse_args()
if arguments.list:
    print("\n".join(SCENARIOS))
    sys.exit()
if not arguments.role or arguments.role == "client" and not arguments.port:
    parser.error("--role is needed, and --port for a client")

started = time.monotonic()
end = None


def result():
    told = {"scenario": arguments.scenario, "role": arguments.role}
    if end:
        told.update(sent=end.sent.result(), received=end.received.result())
    return told


peer.bounded(arguments, result)
connection = socket.socket()
if arguments.receive_buffer:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, arguments.receive_buffer)
if arguments.role == "server":
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    connection.bind((arguments.host, arguments.port))
    connection.listen(1)
    peer.ready(arguments, connection.getsockname())
    listener, (connection, _) = connection, connection.accept()
    listener.close()
else:
    try:
        connection.connect((arguments.host, arguments.port))
    except OSError as error:
        peer.report({**result(), "end": peer.end_of(error)})
end = End(connection)
how = play(end)
peer.report({**result(), "end": how}, failed=how == "timeout" and arguments.scenario != "silent")
