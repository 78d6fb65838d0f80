"""A relay that passes everything on, each byte --delay seconds after it came, in both directions."""

import asyncio

import peer

arguments = peer.parser(__doc__, listens=True)
arguments.add_argument("--to", type=int, required=True, help="the port to pass on to")
arguments.add_argument("--delay", type=float, default=0.2)
arguments = arguments.parse_args()


async def pump(reader, writer):
    loop = asyncio.get_running_loop()
    queue = asyncio.Queue()

    async def deliver():
        while True:
            due, data = await queue.get()
            await asyncio.sleep(due - loop.time())
            try:
                if not data:
                    writer.write_eof()
                    return
                writer.write(data)
                await writer.drain()
            except OSError:
                return

    delivery = asyncio.create_task(deliver())
    data = b"-"
    while data:
        try:
            data = await reader.read(65536)
        except OSError:
            data = b""
        queue.put_nowait((loop.time() + arguments.delay, data))
    await delivery


async def relay(reader, writer):
    try:
        upstream, downstream = await asyncio.open_connection(arguments.host, arguments.to)
    except OSError:
        writer.close()
        return
    await asyncio.gather(pump(reader, downstream), pump(upstream, writer))
    writer.close()
    downstream.close()


async def main():
    server = await asyncio.start_server(relay, arguments.host, arguments.port)
    peer.ready(arguments, server.sockets[0].getsockname())
    await server.serve_forever()


peer.bounded(arguments, lambda: {"library": "asyncio", "role": "relay"})
asyncio.run(main())
