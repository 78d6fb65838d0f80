"""A WebSocket client on `websockets` that sends seeded messages to an echo and compares.

With --fragments each message leaves in that many fragments.
"""

import asyncio

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

import peer

arguments = peer.parser(__doc__)
peer.message_arguments(arguments)
arguments.add_argument("--path", default="/api/phone-bridge?platform=ios")
arguments.add_argument("--fragments", type=int, default=1)
arguments = arguments.parse_args()
sent, received = peer.Messages(), peer.Messages()


def unfinished():
    return {
        "library": "websockets", "role": "client",
        "sent": sent.result(), "received": received.result(),
    }


def fragments(message):
    size = -(-len(message) // arguments.fragments) or 1
    return [message[at:at + size] for at in range(0, len(message), size)]


async def main():
    result = {}
    uri = f"ws://{arguments.host}:{arguments.port}{arguments.path}"
    try:
        async with connect(
            uri, max_size=None, ping_interval=None, proxy=None,
            compression="deflate" if arguments.compress else None,
        ) as connection:
            result["extensions"] = connection.response.headers.get("Sec-WebSocket-Extensions")
            window = asyncio.Semaphore(arguments.window)

            async def receive():
                for _ in range(arguments.messages):
                    received.add(await connection.recv())
                    window.release()

            receiver = asyncio.create_task(receive())
            for message in peer.seeded_messages(arguments):
                await window.acquire()
                sent.add(message)
                if arguments.fragments > 1 and len(message) > 1:
                    await connection.send(fragments(message))
                else:
                    await connection.send(message)
            await receiver
            await connection.close(arguments.close_code, arguments.close_reason)
        result["close_code"] = connection.close_code
        result["close_reason"] = connection.close_reason
    except (OSError, WebSocketException) as error:
        if isinstance(error, ConnectionClosed):
            result["close_code"] = connection.close_code
        peer.report({**unfinished(), **result, "error": repr(error)}, failed=True)
    equal = sent.result() == received.result()
    peer.report({**unfinished(), **result, "equal": equal, "end": "done"}, failed=not equal)


peer.bounded(arguments, unfinished)
asyncio.run(main())
