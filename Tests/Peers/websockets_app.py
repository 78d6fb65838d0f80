"""An app on `websockets`: connects, answers every command of the contract, sends heartbeats.

It is another implementation than the reference app: ids, the order of members, the form of numbers
and the pace are its own, and it tells more than it is asked for. With --twist it makes one mistake.
"""

import asyncio
import json
import os
import sys
import urllib.request

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

import peer

TWISTS = ("none", "wrong", "swapped", "missing", "duplicate", "late", "poor", "crash")

arguments = peer.parser(__doc__)
arguments.add_argument("--twist", choices=TWISTS, default="none")
arguments.add_argument("--path", default="/api/phone-bridge?platform=ios&phone_id=phone-a1")
arguments = arguments.parse_args()

answered = 0
clipboard = ""
events, contacts = {}, {
    "contact_41": {
        "name": "Wei Testmann", "phone_numbers": ["+1 202 555 0123"], "emails": ["wei@example.com"],
    },
}


def born(kind):
    """Ids as no other app makes them."""
    return f"{kind}/{len(events) + len(contacts) + answered:08x}-{id(events) & 0xffff:04x}"


def perform(kind, command):
    """What the phone does; gives the answer's data, or nothing."""
    global clipboard
    payload = command.get("payload") or {}
    if kind == "clipboard_write":
        clipboard = payload["text"]
        return None
    if kind == "clipboard_read":
        return {"text": clipboard}
    if kind == "calendar_create":
        name = born("event")
        events[name] = {k: payload[k] for k in ("title", "start_at", "end_at") if k in payload}
        events[name].update({k: payload[k] for k in ("location", "notes") if payload.get(k)})
        return {"event_id": name}
    if kind == "calendar_query":
        return {"events": [{**each, "event_id": name} for name, each in events.items()]}
    if kind == "calendar_delete":
        del events[payload["event_id"]]
        return None
    if kind == "contacts_query":
        wanted = payload.get("query", "").lower()
        return {"contacts": [
            {**each, "contact_id": name} for name, each in contacts.items()
            if wanted in each["name"].lower()
        ]}
    if kind == "contacts_create":
        name = born("contact")
        contacts[name] = dict(payload)
        return {"contact_id": name}
    if kind == "contacts_update":
        contacts[payload["contact_id"]].update(payload)
        return None
    if kind == "notification_send":
        return {"notification_id": born("note")}
    return None


METHODS = {"open_app": lambda c: "open_url" if c.get("url") else "ios_url_scheme"}


def answer(command):
    """The answer to a command: members in reverse, and one that the contract does not know."""
    kind = command["type"]
    data = perform(kind, command)
    body = {"vendor": {"build": 7}}
    if data is not None:
        body["data"] = {**data, "source": "websockets"}
    else:
        body["method"] = METHODS.get(kind, lambda c: c["type"])(command)
    return {**body, "id": command["id"]}

def app(name, is_there, category, source, **more):
    entry = {**more, "category": category, "available": is_there, "name": name}
    return {"availability_source": source, **entry} if source else entry


def system_app(name):
    return app(name, True, "system", "builtin")


def third_party(name, is_there, url, source="can_open_url"):
    return app(name, is_there, "third_party", source, ios_url=url)


# The recorded phone, told in another order.
ENVIRONMENT = {
    "vendor": {"build": 7},
    "available_apps": [
        third_party("WeChat", True, "weixin://", None),
        third_party("Douyin", False, "snssdk1128://", None),
    ],
    "third_party_apps": [
        third_party("WeChat", True, "weixin://"), third_party("Douyin", False, "snssdk1128://"),
    ],
    "system_apps": [system_app("Camera"), system_app("Contacts")],
    "battery": {"state": "charging", "charging": True, "level": 0.87},
    "screen": {
        "scale": 3, "height_pixels": 2556, "width_pixels": 1179, "height": 852, "width": 393,
    },
    "model": "iPhone16,2", "brand": "Apple", "manufacturer": "Apple", "uses_24_hour_clock": True,
    "utc_offset": "+08:00", "utc_offset_minutes": 480, "time_zone": "Asia/Shanghai",
    "region": "CN", "language": "zh", "locale": "zh-Hans-CN", "is_tablet": False,
    "system_version": "18.5", "system_name": "iOS", "platform": "ios", "source": "aiden-app",
    "captured_at": "2027-02-03T04:05:06.789+08:00",
}
STATE = {
    "reported_at": "2027-02-03T04:05:06.789+08:00", "pip_bridge_enabled": False,
    "return_entry_available": False, "return_entry": "none", "app_state": "active",
}


def event(name, data):
    """An event, with numbers in a form that nobody else writes."""
    text = json.dumps({"data": data, "method": name, "id": name})
    for number, other in (("0.87", "8.7e-1"), (" 393", " 393.0"), (" 480", " 4.80E2")):
        text = text.replace(number, other)
    return text


async def main():
    base = f"http://{arguments.host}:{arguments.port}/api/phone-bridge"
    poll = f"{base}/commands?limit=10&app_state=active&platform=ios&phone_id=phone-a1"
    await asyncio.to_thread(lambda: urllib.request.urlopen(poll).read())
    uri = f"ws://{arguments.host}:{arguments.port}{arguments.path}"
    async with connect(uri, compression=None, ping_interval=None, proxy=None) as link:
        await link.send(event("phone_environment", ENVIRONMENT))
        await link.send(event("phone_app_state", STATE))
        tasks = [asyncio.create_task(heartbeats(link))]
        try:
            async for text in link:
                command = json.loads(text)
                if "type" in command:
                    tasks.append(asyncio.create_task(respond(link, command)))
        except ConnectionClosed:
            pass
        for task in tasks:
            task.cancel()
    # An app does not end because its link does.
    await asyncio.Event().wait()


async def heartbeats(link):
    while True:
        await asyncio.sleep(5)
        await link.send('{"id":"heartbeat"}')


held = None


async def respond(link, command):
    global answered, held
    answered += 1
    number = answered
    # A little later than asked, and not always the same.
    await asyncio.sleep(0.01 * (number % 3))
    reply = answer(command)
    if number == 4 and arguments.twist == "crash":
        print("panic: the fourth command is too much", file=sys.stderr, flush=True)
        os._exit(42)
    if number == 4 and arguments.twist == "wrong":
        spoil(reply)
    if number == 4 and arguments.twist == "poor":
        del reply["data"]["contacts"][0]["emails"]
    if number == 4 and arguments.twist == "missing":
        return
    if number == 4 and arguments.twist == "late":
        await asyncio.sleep(command.get("timeout_ms", 5000) / 1000 + 0.5)
    if number in (5, 6) and arguments.twist == "swapped":
        if held is None:
            held = reply
            return
        held["id"], reply["id"] = reply["id"], held["id"]
        await link.send(json.dumps(held))
    await link.send(json.dumps(reply, indent=1))
    if number == 4 and arguments.twist == "duplicate":
        await link.send(json.dumps(reply))


def spoil(reply):
    """Changes the last character of one text, deep inside the answer."""
    value = reply["data"]
    while True:
        name = next(iter(value)) if isinstance(value, dict) else 0
        if isinstance(value[name], str):
            value[name] = value[name][:-1] + "?"
            return
        value = value[name]


peer.bounded(arguments, lambda: {"library": "websockets", "role": "app", "answered": answered})
asyncio.run(main())
