"""Reads a session file as capture-format.md tells, and prints what stands in pieces in it.

Another reader than the program's own: content of any length is put together and hashed as it
streams. Prints {"lines", "contents": [{"conn", "from", "event", "pieces", "longest", "bytes",
"sha256", "complete"}], "end": the last line where it is an `end`}.
"""

import argparse
import base64
import gzip
import json

import peer

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("file")
parser.add_argument("--seconds", type=float, default=60, help="the most it may take")
arguments = parser.parse_args()
contents = {}
lines = 0
last = {}


def result():
    told = [
        {**content, "bytes": octets.bytes, "sha256": octets.hash.hexdigest()}
        for content, octets in contents.values()
    ]
    return {"lines": lines, "contents": told, "end": last if last.get("event") == "end" else None}


def take(event):
    if event.get("pieces"):
        content = {
            "conn": event["conn"], "from": event["from"], "event": event["event"], "pieces": 0,
            "longest": 0, "complete": False,
        }
        contents[event["seq"]] = content, peer.Octets()
    elif event["event"] == "piece":
        content, octets = contents[event["of"]]
        text = event.get("text")
        data = base64.b64decode(event["base64"]) if text is None else text.encode()
        if event["offset"] != octets.bytes:
            raise ValueError(f"piece at {event['offset']}, expected {octets.bytes}")
        octets.add(data)
        content["pieces"] += 1
        content["longest"] = max(content["longest"], len(data))
        content["complete"] = event.get("last", False) and not event.get("incomplete", False)


peer.bounded(arguments, result)
with (gzip.open if arguments.file.endswith(".gz") else open)(arguments.file, "rb") as file:
    for line in file:
        lines += 1
        last = json.loads(line)
        take(last)
peer.report(result())
