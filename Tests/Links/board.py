"""A board that tells whom it sees: HTTP and WebSocket on one port, with the standard library alone.

GET /peer answers {"peer": ADDRESS}. An upgrade is answered, its first message is that object too,
and each text frame comes back as it was. It ends by itself after --seconds.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import os


def text_frame(payload: bytes) -> bytes:
    assert len(payload) < 126
    return bytes([0x81, len(payload)]) + payload


async def echo_frames(reader, writer):
    while True:
        first, second = await reader.readexactly(2)
        assert second & 0x80 and second & 0x7F < 126, "a short, masked frame"
        mask = await reader.readexactly(4)
        payload = bytes(
            byte ^ mask[i % 4]
            for i, byte in enumerate(await reader.readexactly(second & 0x7F))
        )
        if first & 0x0F == 8:
            writer.write(bytes([0x88, len(payload)]) + payload)
            return
        writer.write(text_frame(payload))
        await writer.drain()


async def serve(reader, writer):
    peer = json.dumps({"peer": writer.get_extra_info("peername")[0]}).encode()
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(
            (name.lower(), value.strip())
            for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
        )
        if "sec-websocket-key" in fields:
            key = fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
            writer.write(
                b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                b"Upgrade: websocket\r\nSec-Websocket-Accept: " + accept.encode() + b"\r\n\r\n"
            )
            writer.write(text_frame(peer))
            await echo_frames(reader, writer)
        else:
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(peer), peer)
            )
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--ready-file", required=True)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    server = await asyncio.start_server(serve, arguments.host, arguments.port)
    with open(arguments.ready_file + ".new", "w") as file:
        print(f"{arguments.host}:{arguments.port}", file=file)
    os.rename(arguments.ready_file + ".new", arguments.ready_file)
    await asyncio.sleep(arguments.seconds)
    server.close()


asyncio.run(main())
