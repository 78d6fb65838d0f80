"""Runs the queries of docs/analysis.md over a folder of sessions, and prints the page with what came out.

Below a block of code stands its output, in a block of `text`. With --spark the Python is run too, which
needs pyspark and Java; else its output stays as it stands in the page.
"""

import argparse
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys

import duckdb

# A block of code, and the block with its output where there is one.
BLOCK = re.compile(r"```(sql|sh|python)\n(.*?)```\n(\n```text\n.*?```\n)?", re.DOTALL)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("page", type=pathlib.Path)
    arguments.add_argument("sessions", type=pathlib.Path, help="becomes the folder `sessions`")
    arguments.add_argument("folder", type=pathlib.Path, help="where to work; it is empty")
    arguments.add_argument("--spark", action="store_true")
    options = arguments.parse_args()
    page = options.page.read_text()
    target = options.folder / "sessions"
    target.mkdir()
    for path in sorted(options.sessions.resolve().glob("*.ndjson")):
        (target / path.name).symlink_to(path)
    os.chdir(options.folder)
    database = duckdb.connect()

    def sql(code):
        output = ""
        for statement in code.split(";"):
            if statement.strip():
                relation = database.sql(statement)
                if relation is not None and not statement.strip().startswith("CREATE"):
                    output += str(relation)
        return output

    def shell(code):
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code], capture_output=True, text=True, check=True,
            timeout=60).stdout

    def spark(code):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, str(options.page), "exec"), {})
        return output.getvalue()

    def run(match):
        kind, code, before = match.groups()
        if kind == "python" and not options.spark:
            return match.group(0)
        output = {"sql": sql, "sh": shell, "python": spark}[kind](code).strip("\n")
        output = "".join(line.rstrip() + "\n" for line in output.split("\n"))
        after = f"\n```text\n{output}```\n" if output.strip() else ""
        return f"```{kind}\n{code}```\n{after}"

    sys.stdout.write(BLOCK.sub(run, page))


main()
