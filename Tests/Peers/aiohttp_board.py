"""A board on `aiohttp`, as an app or a proxy sees it: HTTP queue, status and heartbeat echo.

It is another implementation than the reference board, made from the observed facts of the real one.
Prints how often each route was called with which status, until `GET /stop` or the deadline.

`POST /debug/send` sends a command over the WebSocket, with its members in another order, numbers in
another form and one member more, and answers with what came of it; --twist makes one mistake there.
--leak keeps so many KiB for each request, and --leak-files that many open files.
"""

import asyncio
import collections
import datetime
import json

from aiohttp import WSMsgType, web

import peer

BASE = "/api/phone-bridge"
BACKGROUND_PREFIXES = ("clipboard_", "calendar_", "contacts_", "notification_send")

TWISTS = ("none", "wrong", "swapped", "missing", "duplicate")

arguments = peer.parser(__doc__, listens=True)
arguments.add_argument("--twist", choices=TWISTS, default="none")
arguments.add_argument("--leak", type=int, default=0)
arguments.add_argument("--leak-files", type=int, default=0)
arguments = arguments.parse_args()
kept_forever = []
calls = collections.Counter()
commands = collections.OrderedDict()
state = {"connected": False}
link = phone_id = None
pending = {}
sent = 0
heartbeats = 0


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def unfinished():
    return {
        "library": "aiohttp", "role": "board", "calls": dict(calls), "heartbeats": heartbeats,
        "completed": [each for each, entry in commands.items() if entry["status"] == "completed"],
    }


def answer(body, status=200):
    return web.Response(
        body=json.dumps(body, separators=(",", ":")).encode() + b"\n", status=status,
        content_type="application/json",
    )


def refuse(status, why):
    response = web.Response(text=json.dumps({"error": why}) + "\n", status=status)
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


async def json_object(request):
    try:
        body = json.loads(await request.read())
    except ValueError as error:
        raise ValueError(f"Invalid request: {error}") from None
    if not isinstance(body, dict):
        raise ValueError("Invalid request: not an object")
    return body


async def enqueue(request):
    try:
        command = (await json_object(request)).get("command") or {}
    except ValueError as error:
        return refuse(400, str(error))
    if not command.get("id"):
        return refuse(400, "command ID must not be empty")
    known = commands.get(command["id"])
    if known and known["status"] in ("queued", "in_flight"):
        return refuse(
            409, f"command {command['id']} already exists: phone bridge command already exists"
        )
    commands[command["id"]] = {"command": command, "status": "queued"}
    return answer({"command_id": command["id"], "status": "queued", "queued_at": now()}, 202)


def handed_out(query, kind):
    true = ("true", "1", "yes")
    if query.get("app_state", "active").lower() == "active":
        return True
    background = kind.startswith(BACKGROUND_PREFIXES)
    if query["platform"].lower() == "android":
        return background and query.get("fgs_bridge_enabled", "").lower() in true
    if query.get("pip_bridge_enabled", "").lower() in true:
        return background
    return background and not kind.startswith("clipboard_") and kind != "contacts_update"


async def poll(request):
    query = request.query
    if not query.get("platform"):
        return refuse(400, "platform parameter required")
    state["platform"] = query["platform"]
    limit = int(query["limit"]) if query.get("limit", "").isdigit() else 10
    found = []
    for entry in commands.values():
        wanted = entry["command"].get("phone_id")
        if (
            len(found) < (limit if 1 <= limit <= 50 else 10)
            and entry["status"] == "queued"
            and (not wanted or wanted == query.get("phone_id"))
            and handed_out(query, entry["command"].get("type", ""))
        ):
            entry["status"] = "in_flight"
            found.append(entry["command"])
    return answer({"commands": found or None, "server_time": now()})


async def result(request):
    try:
        body = await json_object(request)
    except ValueError as error:
        return refuse(400, str(error))
    if not body.get("id"):
        return refuse(400, "result ID must not be empty")
    entry = commands.get(body["id"])
    if not entry or entry["status"] == "completed":
        return refuse(404, f"command {body['id']} not found")
    entry.update(status="completed", result=body, completed_at=now())
    return answer({"status": "acknowledged"})


async def query_result(request):
    name = request.match_info["id"]
    if not name:
        return refuse(400, "command_id required")
    entry = commands.get(name, {"status": "expired"})
    body = {"command_id": name, "status": entry["status"]}
    if entry["status"] == "completed":
        body.update(result=entry["result"], completed_at=entry["completed_at"])
    return answer(body)


async def status(_):
    return answer(state)


async def send(request):
    global sent
    command = await json_object(request)
    sent += 1
    number = sent
    if not link:
        return answer(failed(command, "precondition_failed", "bridge_not_connected"))
    if phone_id and "phone_id" not in command:
        command = {**command, "phone_id": phone_id}
    text = json.dumps({"vendor": {"build": 7}, **dict(reversed(command.items()))})
    if "timeout_ms" in command:
        text = text.replace(f"{command['timeout_ms']}", f"{command['timeout_ms']}.0")
    if number == 4 and arguments.twist == "wrong":
        text = text.replace('"query": "Wei"', '"query": "Wai"')
    future = asyncio.get_running_loop().create_future()
    pending[command["id"]] = future
    if not (number == 4 and arguments.twist == "missing"):
        await link.send_str(text)
    if number == 4 and arguments.twist == "duplicate":
        await link.send_str(text)
    try:
        outcome = await asyncio.wait_for(future, command.get("timeout_ms", 5000) / 1000)
    except asyncio.TimeoutError:
        outcome = failed(command, "transient", "bridge_timeout")
    if number in (1, 2) and arguments.twist == "swapped":
        outcome = {**outcome, "data": {"text": "x"} if number == 1 else {"events": []}}
    return answer({"vendor": {"build": 7}, **dict(reversed(outcome.items()))})


def failed(command, category, code):
    return {
        "id": command["id"], "error": {"message": "no", "code": code, "category": category},
    }


async def upgrade(request):
    global heartbeats, link, phone_id
    if request.headers.get("Upgrade", "").lower() != "websocket":
        return web.Response(
            status=426, text="WebSocket protocol violation\n",
            headers={"Connection": "Upgrade", "Upgrade": "websocket"},
        )
    connection = web.WebSocketResponse(max_msg_size=32768)
    await connection.prepare(request)
    state["connected"] = True
    link, phone_id = connection, request.query.get("phone_id")
    async for message in connection:
        if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
            break
        try:
            body = json.loads(message.data)
        except ValueError:
            continue
        if isinstance(body, dict) and body.get("id") in ("heartbeat", "ping"):
            heartbeats += 1
            kept = {k: body[k] for k in ("id", "method", "error", "data") if k in body}
            await connection.send_str(json.dumps(kept, separators=(",", ":")))
        elif isinstance(body, dict) and body.get("id") in pending:
            future = pending.pop(body["id"])
            if not future.done():
                future.set_result(body)
    state["connected"] = False
    link = None
    return connection


@web.middleware
async def count(request, handler):
    code = 500
    if arguments.leak:
        kept_forever.append(b"x" * (arguments.leak << 10))
    kept_forever.extend(open("/dev/null") for _ in range(arguments.leak_files))
    try:
        response = await handler(request)
        code = response.status
    except web.HTTPException as error:
        code = error.status
        raise
    finally:
        calls[f"{request.method} {request.path} {code}"] += 1
    return response


async def main():
    stop = asyncio.Event()

    async def stopped(_):
        stop.set()
        return answer({})

    application = web.Application(middlewares=[count], client_max_size=64 << 20)
    application.router.add_get(BASE, upgrade)
    application.router.add_get(BASE + "/status", status)
    application.router.add_post(BASE + "/commands", enqueue)
    application.router.add_get(BASE + "/commands", poll)
    application.router.add_post(BASE + "/results", result)
    application.router.add_get(BASE + "/results/{id:.*}", query_result)
    application.router.add_post("/debug/send", send)
    application.router.add_get("/stop", stopped)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, arguments.host, arguments.port)
    await site.start()
    peer.ready(arguments, runner.addresses[0])
    await stop.wait()
    await runner.cleanup()
    peer.report({**unfinished(), "end": "done"})


peer.bounded(arguments, unfinished)
asyncio.run(main())
