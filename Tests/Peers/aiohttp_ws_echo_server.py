"""A WebSocket server on `aiohttp` that sends each message back.

Prints, once --connections of them have ended, what each one said and how it ended.
"""

import asyncio

from aiohttp import WSMsgType, web

import peer

arguments = peer.parser(__doc__, listens=True)
arguments.add_argument("--connections", type=int, default=1)
arguments.add_argument("--compress", action="store_true", help="accept permessage-deflate")
arguments = arguments.parse_args()
ended = []


def unfinished():
    return {"library": "aiohttp", "role": "server", "connections": ended}


async def main():
    all_ended = asyncio.Event()

    async def echo(request):
        connection = web.WebSocketResponse(compress=arguments.compress, max_msg_size=0)
        await connection.prepare(request)
        messages = peer.Messages()
        error = None
        async for message in connection:
            if message.type == WSMsgType.ERROR:
                error = repr(message.data)
                break
            messages.add(message.data)
            if message.type == WSMsgType.TEXT:
                await connection.send_str(message.data)
            else:
                await connection.send_bytes(message.data)
        ended.append({
            "path": request.path_qs,
            "extensions": connection.headers.get("Sec-WebSocket-Extensions"),
            "received": messages.result(),
            "close_code": connection.close_code,
            "error": error,
        })
        if len(ended) == arguments.connections:
            all_ended.set()
        return connection

    application = web.Application()
    application.router.add_get("/{path:.*}", echo)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, arguments.host, arguments.port)
    await site.start()
    peer.ready(arguments, runner.addresses[0])
    await all_ended.wait()
    peer.report({**unfinished(), "end": "done"})


peer.bounded(arguments, unfinished)
asyncio.run(main())
