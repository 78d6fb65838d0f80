"""A WebSocket client on `aiohttp` that sends seeded messages to an echo and compares."""

import asyncio

import aiohttp

import peer

arguments = peer.parser(__doc__)
peer.message_arguments(arguments)
arguments.add_argument("--path", default="/api/phone-bridge?platform=android")
arguments = arguments.parse_args()
sent, received = peer.Messages(), peer.Messages()


def unfinished():
    return {
        "library": "aiohttp", "role": "client",
        "sent": sent.result(), "received": received.result(),
    }


async def main():
    result = {}
    url = f"http://{arguments.host}:{arguments.port}{arguments.path}"
    try:
        async with aiohttp.ClientSession() as session, session.ws_connect(
            url, max_msg_size=0, compress=15 if arguments.compress else 0
        ) as connection:
            result["extensions"] = connection._response.headers.get("Sec-WebSocket-Extensions")
            window = asyncio.Semaphore(arguments.window)

            async def receive():
                for _ in range(arguments.messages):
                    message = await connection.receive()
                    if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                        raise ConnectionError(f"{message.type.name} {message.data}")
                    received.add(message.data)
                    window.release()

            receiver = asyncio.create_task(receive())
            for message in peer.seeded_messages(arguments):
                acquired = asyncio.create_task(window.acquire())
                await asyncio.wait([acquired, receiver], return_when=asyncio.FIRST_COMPLETED)
                if receiver.done():
                    break
                sent.add(message)
                if isinstance(message, str):
                    await connection.send_str(message)
                else:
                    await connection.send_bytes(message)
            await receiver
            await connection.close(
                code=arguments.close_code, message=arguments.close_reason.encode()
            )
            result["close_code"] = connection.close_code
    except (OSError, aiohttp.ClientError) as error:
        peer.report({**unfinished(), **result, "error": repr(error)}, failed=True)
    equal = sent.result() == received.result()
    peer.report({**unfinished(), **result, "equal": equal, "end": "done"}, failed=not equal)


peer.bounded(arguments, unfinished)
asyncio.run(main())
