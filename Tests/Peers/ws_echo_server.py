"""A WebSocket server on `websockets` that sends each message back.

Prints, once --connections of them have ended, what each one said and how it ended.
"""

import asyncio

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

import peer

arguments = peer.parser(__doc__, listens=True)
arguments.add_argument("--connections", type=int, default=1)
arguments.add_argument("--compress", action="store_true", help="accept permessage-deflate")
arguments = arguments.parse_args()
ended = []


def unfinished():
    return {"library": "websockets", "role": "server", "connections": ended}


async def main():
    all_ended = asyncio.Event()

    async def echo(connection):
        messages = peer.Messages()
        try:
            async for message in connection:
                messages.add(message)
                await connection.send(message)
        except ConnectionClosed:
            pass
        ended.append({
            "path": connection.request.path,
            "extensions": connection.response.headers.get("Sec-WebSocket-Extensions"),
            "received": messages.result(),
            "close_code": connection.close_code,
            "close_reason": connection.close_reason,
        })
        if len(ended) == arguments.connections:
            all_ended.set()

    server = await serve(
        echo, arguments.host, arguments.port, max_size=None, ping_interval=None,
        compression="deflate" if arguments.compress else None,
    )
    peer.ready(arguments, server.sockets[0].getsockname())
    await all_ended.wait()
    peer.report({**unfinished(), "end": "done"})


peer.bounded(arguments, unfinished)
asyncio.run(main())
