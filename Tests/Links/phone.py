"""What a phone does on the link: one HTTP request and one WebSocket session, to a fixed address.

Prints the peer address that the board told over each, one a line. Exit 1 if anything went wrong.
"""

import base64
import hashlib
import http.client
import json
import os
import socket
import sys

host, port = sys.argv[1], int(sys.argv[2])
TIMEOUT_SECONDS = 5


def over_http() -> str:
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
    connection.request("GET", "/peer")
    return json.loads(connection.getresponse().read())["peer"]


def masked(opcode: int, payload: bytes) -> bytes:
    mask = os.urandom(4)
    body = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + mask + body


def over_websocket() -> str:
    with socket.create_connection((host, port), timeout=TIMEOUT_SECONDS) as connection:
        stream = connection.makefile("rb")
        key = base64.b64encode(os.urandom(16))
        connection.sendall(
            b"GET /api/phone-bridge?platform=ios HTTP/1.1\r\nHost: %s:%d\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n"
            % (host.encode(), port, key)
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = stream.readline()
            if not line:
                raise ConnectionError("the connection ended within the handshake")
            head += line
        accept = base64.b64encode(
            hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        )
        assert head.startswith(b"HTTP/1.1 101 ") and accept in head, head

        def frame() -> bytes:
            first, length = stream.read(2)
            assert first in (0x81, 0x88) and length < 126
            return stream.read(length)

        peer = json.loads(frame())["peer"]
        for number in range(20):
            heartbeat = b'{"id":"heartbeat","n":%d}' % number
            connection.sendall(masked(1, heartbeat))
            assert frame() == heartbeat
        connection.sendall(masked(8, b"\x03\xe8"))
        assert frame() == b"\x03\xe8"
        assert stream.read() == b"", "nothing follows the close frame"
        return peer


try:
    print(over_http())
    print(over_websocket())
except (OSError, AssertionError, ValueError) as error:
    sys.exit(f"phone: {type(error).__name__}: {error}")
