"""Reads the figures of a recording as Prometheus does, until one of them has a value."""

import argparse
import json
import sys
import time
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("page", help="the address of the page, with its token")
parser.add_argument("name", help="the figure that is waited for")
parser.add_argument("least", type=float, help="the value that it has to reach")
arguments = parser.parse_args()
deadline = time.monotonic() + 60
token = arguments.page.rstrip("/").rsplit("/", 1)[1]
root = arguments.page.split(token)[0]
while True:
    request = urllib.request.Request(root + "metrics", headers={"Authorization": "Bearer " + token})
    with urllib.request.urlopen(request, timeout=10) as answer:
        kind = answer.headers["Content-Type"]
        text = answer.read().decode()
    samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = sample.name + "".join(f" {name}={value}" for name, value in sorted(sample.labels.items()))
            if key in samples:
                sys.exit(f"{key} is there twice")
            samples[key] = sample.value
    if samples.get(arguments.name, 0) >= arguments.least:
        break
    if time.monotonic() > deadline:
        sys.exit(f"{arguments.name} is {samples.get(arguments.name)} after a minute:\n{text}")
    time.sleep(0.1)
with urllib.request.urlopen(arguments.page + "metrics", timeout=10) as answer:
    if answer.status != 200:
        sys.exit("the token in the path is not enough")
print(json.dumps({"type": kind, "samples": {key: value for key, value in samples.items() if value == value}}))
