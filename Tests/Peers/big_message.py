"""One very long message or body, made and checked as it streams: neither end ever holds it.

`--role server` waits for one connection and takes or sends it, `--role client` connects. --as
says what crosses: `message` (one unfragmented binary WebSocket message), `fragments` (the same in
frames of --fragment bytes), `request` or `response` (an HTTP body with a length), `chunked` (a response in
chunks). The sender is the client for `message`, `fragments` and `request`, unless --from server.

Prints {"sent" or "received": {"bytes", "sha256"}, "seconds"}. The content depends on --seed and on
the place, so a lost, doubled or swapped part changes the hash.
"""

import base64
import hashlib
import random
import socket
import struct
import time

import peer

BLOCK = 1 << 20
KEY = b"dGhlIHNhbXBsZSBub25jZQ=="

parser = peer.parser(__doc__, listens=True)
parser.add_argument("--role", choices=["client", "server"], required=True)
parser.add_argument(
    "--as", dest="kind", default="message",
    choices=["message", "fragments", "request", "response", "chunked"],
)
parser.add_argument("--from", dest="sender", choices=["client", "server"])
parser.add_argument("--bytes", type=int, default=1 << 30)
parser.add_argument("--fragment", type=int, default=1 << 16)
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
sender = arguments.sender or (
    "server" if arguments.kind in ("response", "chunked") else "client"
)
octets = peer.Octets()
started = time.monotonic()
is_sender = arguments.role == sender


def result():
    return {
        "as": arguments.kind, "role": arguments.role,
        "sent" if is_sender else "received": octets.result(),
        "seconds": round(time.monotonic() - started, 3),
    }


def content(count):
    """`count` bytes in blocks: seeded noise, a counter at the front of each block."""
    noise = random.Random(arguments.seed).randbytes(BLOCK - 8)
    number = 0
    while count > 0:
        block = (struct.pack("!Q", number) + noise)[:count]
        octets.add(block)
        yield block
        count -= len(block)
        number += 1


class Mask:
    """XORs a stream with a masking key, whole blocks at once."""

    def __init__(self, key):
        self.key, self.offset = key, 0

    def apply(self, data):
        if self.key == b"\0\0\0\0":
            return data
        shift = self.offset % 4
        key = (self.key[shift:] + self.key[:shift]) * (len(data) // 4 + 1)
        self.offset += len(data)
        number = int.from_bytes(data, "little") ^ int.from_bytes(key[:len(data)], "little")
        return number.to_bytes(len(data), "little")


def frame_head(opcode, count, fin, key):
    first, masked = (0x80 if fin else 0) | opcode, 0x80 if key else 0
    if count < 126:
        head = struct.pack("!BB", first, masked | count)
    elif count < 65536:
        head = struct.pack("!BBH", first, masked | 126, count)
    else:
        head = struct.pack("!BBQ", first, masked | 127, count)
    return head + (key or b"")


def read_exactly(stream, count):
    data = stream.read(count)
    if len(data) != count:
        raise ConnectionError(f"ended {count - len(data)} bytes too early")
    return data


def take(stream, count, mask=None):
    """Hashes the next `count` bytes of the stream, unmasked."""
    while count > 0:
        data = stream.read(min(count, BLOCK))
        if not data:
            raise ConnectionError(f"ended {count} bytes too early")
        octets.add(mask.apply(data) if mask else data)
        count -= len(data)


def read_head(stream):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline(65536)
        if not line:
            raise ConnectionError("ended within a head")
        head += line
    return head


def fields(head):
    return {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
    }


def send_message(connection):
    key = b"\x9d\x01\xfe\x42" if arguments.role == "client" else None
    if arguments.kind == "message":
        connection.sendall(frame_head(2, arguments.bytes, True, key))
        mask = Mask(key or b"\0\0\0\0")
        for block in content(arguments.bytes):
            connection.sendall(mask.apply(block))
        return
    left, opcode = arguments.bytes, 2
    for block in content(arguments.bytes):
        for at in range(0, len(block), arguments.fragment):
            part = block[at:at + arguments.fragment]
            left -= len(part)
            data = Mask(key or b"\0\0\0\0").apply(part)
            connection.sendall(frame_head(opcode, len(part), left == 0, key) + data)
            opcode = 0


def take_message(stream):
    fin = False
    frames = 0
    while not fin:
        first, second = read_exactly(stream, 2)
        count = second & 0x7F
        if count == 126:
            count, = struct.unpack("!H", read_exactly(stream, 2))
        elif count == 127:
            count, = struct.unpack("!Q", read_exactly(stream, 8))
        mask = Mask(read_exactly(stream, 4)) if second & 0x80 else None
        take(stream, count, mask)
        fin = bool(first & 0x80)
        frames += 1
    return frames


def take_chunks(stream):
    while size := int(stream.readline(1024).split(b";")[0], 16):
        take(stream, size)
        read_exactly(stream, 2)
    while stream.readline(65536) not in (b"\r\n", b""):
        pass


def play_client(connection, stream):
    head = b"Host: 192.168.42.1:8080\r\n"
    if arguments.kind in ("message", "fragments"):
        connection.sendall(
            b"GET /api/phone-bridge?platform=ios HTTP/1.1\r\n" + head + b"Upgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY
            + b"\r\n\r\n"
        )
        read_head(stream)
        if is_sender:
            send_message(connection)
            # The other end says that it has all by ending the connection.
            connection.shutdown(socket.SHUT_WR)
            stream.read(1)
            return {}
        return {"frames": take_message(stream)}
    if arguments.kind == "request":
        connection.sendall(
            b"POST /api/phone-bridge/results HTTP/1.1\r\n" + head
            + b"Content-Length: %d\r\n\r\n" % arguments.bytes
        )
        for block in content(arguments.bytes):
            connection.sendall(block)
        read_head(stream)
        return {}
    connection.sendall(b"GET /big HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n")
    answer = fields(read_head(stream))
    if b"content-length" in answer:
        take(stream, int(answer[b"content-length"]))
    else:
        take_chunks(stream)
    return {}


def play_server(connection, stream):
    request = fields(read_head(stream))
    if arguments.kind in ("message", "fragments"):
        guid = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = hashlib.sha1(request[b"sec-websocket-key"] + guid).digest()
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-Websocket-Accept: " + base64.b64encode(accept) + b"\r\n\r\n"
        )
        if is_sender:
            send_message(connection)
            connection.shutdown(socket.SHUT_WR)
            stream.read(1)
            return {}
        return {"frames": take_message(stream)}
    if arguments.kind == "request":
        take(stream, int(request[b"content-length"]))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        return {}
    if arguments.kind == "response":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % arguments.bytes)
        for block in content(arguments.bytes):
            connection.sendall(block)
    else:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for block in content(arguments.bytes):
            connection.sendall(b"%x\r\n" % len(block) + block + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
    connection.shutdown(socket.SHUT_WR)
    stream.read(1)
    return {}


peer.bounded(arguments, result)
connection = socket.socket()
try:
    if arguments.role == "server":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connection.bind((arguments.host, arguments.port))
        connection.listen(1)
        peer.ready(arguments, connection.getsockname())
        listener, (connection, _) = connection, connection.accept()
        listener.close()
        started = time.monotonic()
        more = play_server(connection, connection.makefile("rb", BLOCK))
    else:
        connection.connect((arguments.host, arguments.port))
        started = time.monotonic()
        more = play_client(connection, connection.makefile("rb", BLOCK))
    connection.close()
except (OSError, ValueError, KeyError) as error:
    peer.report({**result(), "error": repr(error), "end": peer.end_of(error)}, failed=True)
peer.report({**result(), **more, "end": "done"})
