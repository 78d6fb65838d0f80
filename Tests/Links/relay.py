"""A stand-in for `bridgetap record` with the flags that links need; it writes `open` events alone.

--limit ends it after that many connections: a loop is then a count and not an avalanche.
"""

import argparse
import asyncio
import ipaddress
import json
import os
import socket
import struct

SO_ORIGINAL_DST = 80

parser = argparse.ArgumentParser()
parser.add_argument("--listen", required=True)
parser.add_argument("--upstream")
parser.add_argument("--transparent", action="store_true")
parser.add_argument("--upstream-interface")
parser.add_argument("--allow-from", default="127.0.0.0/8")
parser.add_argument("--ready-file", required=True)
parser.add_argument("-o", dest="output", required=True)
parser.add_argument("--limit", type=int, default=100)
parser.add_argument("--seconds", type=float, default=60)
arguments = parser.parse_args()
opened = 0


def endpoint(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def name(address):
    return f"{address[0]}:{address[1]}"


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


async def relay(reader, writer):
    global opened
    opened += 1
    peer = writer.get_extra_info("peername")
    if opened > arguments.limit or ipaddress.ip_address(peer[0]) not in ipaddress.ip_network(
        arguments.allow_from
    ):
        writer.close()
        return
    target = endpoint(arguments.upstream) if arguments.upstream else None
    if arguments.transparent:
        raw = writer.get_extra_info("socket").getsockopt(socket.SOL_IP, SO_ORIGINAL_DST, 16)
        target = socket.inet_ntoa(raw[4:8]), struct.unpack("!H", raw[2:4])[0]
    with open(arguments.output, "a") as file:
        print(json.dumps({"event": "open", "app": name(peer), "board": name(target)}), file=file)
    upstream = socket.socket()
    upstream.setblocking(False)
    try:
        if arguments.upstream_interface:
            upstream.setsockopt(
                socket.SOL_SOCKET, socket.SO_BINDTODEVICE, arguments.upstream_interface.encode()
            )
        await asyncio.wait_for(asyncio.get_running_loop().sock_connect(upstream, target), 3)
        from_board, to_board = await asyncio.open_connection(sock=upstream)
        await asyncio.gather(pump(reader, to_board), pump(from_board, writer))
        to_board.close()
    except (OSError, asyncio.TimeoutError):
        upstream.close()
    writer.close()


async def main():
    host, port = endpoint(arguments.listen)
    server = await asyncio.start_server(relay, host, port)
    with open(arguments.ready_file + ".new", "w") as file:
        print(name(server.sockets[0].getsockname()), file=file)
    os.rename(arguments.ready_file + ".new", arguments.ready_file)
    await asyncio.sleep(arguments.seconds)


asyncio.run(main())
