"""Looks at a page of `bridgetap view` as a person would, in a headless Chromium.

Each scenario ends with 0 where all is as it should be, and says what is not where it is not.
"""

import argparse
import json
import socket
import sys
import time

from browser import Browser

ROWS = "document.querySelectorAll('#rows .row').length"
PICKED = "document.querySelector('#rows .picked .text')?.textContent ?? ''"


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def fine(page, allowed):
    """Nothing was asked for elsewhere, and nobody complained."""
    for url in page.requests():
        expect(any(url.startswith(prefix) for prefix in allowed), f"the page asked for {url}")
    expect(not page.complaints(), f"the page complains: {page.complaints()}")


def shown(page, count=None):
    page.wait("document.getElementById('state').className === 'whole'", "the end of the session")
    page.wait(ROWS + " > 3", "rows")


def whole(browser, arguments):
    """A file from the disk: rows, keys, the filter, links, details."""
    url = "file://" + arguments.place
    page = browser.page(url)
    shown(page)
    # Keys.
    page.key("j")
    first = page.wait(PICKED, "a picked line")
    page.key("j")
    second = page.wait(f"({PICKED}) !== {json.dumps(first)} && ({PICKED})", "the next line")
    page.key("k")
    page.wait(f"({PICKED}) === {json.dumps(first)}", "the line before")
    page.key("G")
    page.wait(f"![{json.dumps(first)}, {json.dumps(second)}].includes({PICKED})", "the last line")
    page.key("g")
    page.wait(f"({PICKED}) === {json.dumps(first)}", "the first line")
    # The filter: a wrong one says why, a right one leaves what it chooses.
    page.key("/")
    page.wait("document.activeElement.id === 'filter'", "the filter's focus")
    page.type("typ=x")
    page.wait("document.getElementById('wrong').textContent.includes('unknown field')", "why it is wrong")
    page.key("Escape")
    page.wait("document.activeElement.id === 'rows' && !document.getElementById('filter').value", "no filter")
    page.key("/")
    page.type("result late=true")
    page.key("Enter")
    page.wait("document.getElementById('found').textContent === '2 lines'", "the late result and its rule")
    page.wait("[...document.querySelectorAll('#rows .label')].map((label) => label.textContent).join() "
              "=== 'result,rule'", "these two rows alone")
    page.key("j")
    page.wait("!!document.querySelector('#event .card')", "the command of the late result")
    expect(page.evaluate("document.querySelector('#event .card .bar.late') !== null"), "it is drawn late")
    page.key("Escape")
    page.wait("!document.getElementById('found').textContent", "all lines again")
    expect("late" in page.evaluate(PICKED), "the picked line is kept")
    # What stands out, one after the other.
    page.key("g")
    page.key("n")
    page.wait("!!document.querySelector('#rows .picked .badge.bad')", "the first trouble")
    # Links to an event, one that is counted in a fold too.
    page.evaluate("location.hash = '#seq=10'")
    page.wait("/event\\s*10|\\b10\\b/.test(document.querySelector('#event .facts dd')?.textContent)", "event 10")
    page.wait("!!document.querySelector('#event .json')", "its JSON")
    expect(page.evaluate("document.getElementById('event').textContent.includes('\"seq\": 10')"), "its own line")
    again = browser.page(url + "#seq=10")
    again.wait("document.getElementById('event').textContent.includes('\"seq\": 10')", "a link from elsewhere")
    for name in ("rules", "charts", "about"):
        page.evaluate(f"document.getElementById('tab-{name}').click()")
        page.wait(f"document.getElementById('{name}').childElementCount > 0", name)
    expect(page.evaluate("document.querySelectorAll('#charts svg').length === 2"), "two charts")
    fine(page, ["file://"])
    fine(again, ["file://"])


def broken(browser, arguments):
    """A rule that is broken is seen where it happened, and under its own heading."""
    page = browser.page("file://" + arguments.place)
    shown(page)
    page.key("g")
    page.key("n")
    page.wait(f"({PICKED}).includes({json.dumps(arguments.rule)})", "the broken rule")
    page.evaluate("document.getElementById('tab-rules').click()")
    page.wait(f"document.getElementById('rules').textContent.includes({json.dumps(arguments.rule)})", "its demand")
    fine(page, ["file://"])


def pair(browser, arguments):
    """A file with two sessions has them side by side as well, and the way back."""
    page = browser.page("file://" + arguments.place)
    shown(page)
    page.wait("!document.getElementById('compare').hidden", "the choice to compare")
    page.evaluate("(() => { const box = document.getElementById('compare'); box.value = '1'; "
                  "box.dispatchEvent(new Event('change')); })()")
    page.wait("!!document.getElementById('sum')?.textContent.includes(' and ')", "both sessions")
    page.wait("document.querySelectorAll('#rows .line').length > 3", "lines of both")
    page.key("n")
    page.wait("!!document.querySelector('#items .picked .bad')", "a difference")
    page.evaluate("history.back()")
    page.wait("document.getElementById('compare') !== null", "the way back")
    shown(page)
    fine(page, ["file://", "blob:"])


def report(browser, arguments):
    """The page of a replay has its sessions in it."""
    page = browser.page("file://" + arguments.place)
    page.wait("document.querySelectorAll('#rows .line').length > 3", "both sessions")
    page.wait("!document.getElementById('look').hidden", "the way to each session")
    page.evaluate("document.getElementById('look').click()")
    page.wait("!!document.getElementById('filter') && document.getElementById('sessions').options?.length === 2",
              "the page within")
    shown(page)
    page.key("/")
    page.type("result")
    page.key("Enter")
    page.wait("!!document.getElementById('found').textContent", "what it filters")
    fine(page, ["file://", "blob:"])


def rules(browser, arguments):
    """The page of a check opens at its rules, and leads to where they are broken."""
    page = browser.page("file://" + arguments.place)
    shown(page)
    page.wait("!document.getElementById('rules').hidden", "the rules")
    page.wait(f"document.getElementById('rules').textContent.includes({json.dumps(arguments.rule)})", "the broken one")
    page.evaluate("document.querySelector('#rules li button').click()")
    page.wait(f"({PICKED}).includes({json.dumps(arguments.rule)})", "where it is broken")
    fine(page, ["file://"])


def live(browser, arguments):
    """A file that grows: the page follows, and stays where somebody looks."""
    with open(arguments.rest, encoding="utf-8") as file:
        rest = file.read().splitlines(keepends=True)
    page = browser.page(arguments.place)
    page.wait("document.getElementById('state').className === 'live'", "the live session")
    page.wait(ROWS + " > 1", "rows")
    before = page.evaluate("document.getElementById('rows').scrollHeight")

    def append(lines):
        with open(arguments.file, "a", encoding="utf-8") as file:
            file.write("".join(lines))

    half = len(rest) // 2
    append(rest[:half])
    page.wait(f"document.getElementById('rows').scrollHeight > {before}", "more rows")
    bottom = ("(() => { const box = document.getElementById('rows'); "
              "return box.scrollTop + box.clientHeight >= box.scrollHeight - 30; })()")
    page.wait(bottom, "the end in sight")
    # Who looks at the first line keeps it while more comes.
    page.key("g")
    page.wait("document.getElementById('rows').scrollTop === 0", "the first line")
    page.wait("document.getElementById('follow').getAttribute('aria-pressed') === 'false'", "no following")
    height = page.evaluate("document.getElementById('rows').scrollHeight")
    append(rest[half:-1])
    page.wait(f"document.getElementById('rows').scrollHeight > {height}", "more rows behind it")
    expect(page.evaluate("document.getElementById('rows').scrollTop") == 0, "the place was taken away")
    page.key("G")
    page.wait(bottom, "the end again")
    # A filter takes what comes later too.
    page.key("/")
    page.type("event=end or result")
    page.key("Enter")
    page.wait("document.getElementById('found').textContent", "filtered lines")
    append(rest[-1:])
    page.wait("document.getElementById('state').className === 'whole'", "the end of the session")
    page.wait("[...document.querySelectorAll('#rows .label')].some((label) => label.textContent === 'end')",
              "the end line behind the filter")
    base = arguments.place.split("#")[0]
    fine(page, [base, base.replace("http:", "ws:")])


def recording(browser, arguments):
    """A recording as it goes on: the app comes, and its heartbeats are counted while they come."""
    page = browser.page(arguments.place)
    page.wait("document.getElementById('state').className === 'live'", "the live session")
    labels = "[...document.querySelectorAll('#rows .label')].map((label) => label.textContent)"
    page.wait(labels + ".includes('upgraded')", "the app's WebSocket")
    page.wait("document.querySelectorAll('#rows .row.pending').length > 0", "what is still counted", 60)
    fine(page, [arguments.place, arguments.place.replace("http:", "ws:")])


def both(browser, arguments):
    """Two sessions: one after the other, and side by side."""
    page = browser.page(arguments.place)
    shown(page)
    page.evaluate("document.getElementById('sessions').value = '1', "
                  "document.getElementById('sessions').dispatchEvent(new Event('change'))")
    page.wait("document.querySelector('#counts').textContent.includes('4 commands')", "the second session")
    page.evaluate("document.getElementById('compare').value = '0', "
                  "document.getElementById('compare').dispatchEvent(new Event('change'))")
    page.wait("document.querySelectorAll('#rows .line').length > 3", "both side by side")
    fine(page, [arguments.place, arguments.place.replace("http:", "ws:")])


def hostile(browser, arguments):
    """Whatever the link carried stays text."""
    url = arguments.place if arguments.place.startswith("http") else "file://" + arguments.place
    page = browser.page(url)
    page.wait(ROWS + " > 3", "rows")
    count = int(page.evaluate("document.getElementById('rows').scrollHeight / 22"))
    for step in range(count):
        page.key("j")
        page.wait("!!document.querySelector('#event details, #event .counted, #event .warn, #event h2')", "details")
    page.key("/")
    page.type("text~'<script>'")
    page.key("Enter")
    page.wait("document.getElementById('found').textContent", "filtered lines")
    page.wait("[...document.querySelectorAll('#rows .row')].some((row) => row.textContent.includes('<script>'))",
              "the script as text")
    page.evaluate("document.querySelectorAll('[role=tab]').forEach((tab) => tab.click())")
    expect(page.evaluate("window.taken === undefined"), "a script of the link ran")
    for tag in ("img", "iframe", "object", "embed", "link", "base", "form", "video"):
        expect(page.evaluate(f"document.querySelectorAll('{tag}').length") == 0, f"there is an element {tag}")
    allowed = [url, url.replace("http:", "ws:"), "file://"]
    fine(page, allowed)


def big(browser, arguments):
    """Many events: how long until something is there, and how much work it is to move in them.

    Times are told as they are. What is held to a limit is the work of the page's thread, which does
    not grow where other processes want the machine too, and the number of rows that are there.
    """
    page = browser.page("about:blank")
    page.call("Performance.enable", timeDomain="threadTicks")

    def work():
        metrics = page.call("Performance.getMetrics")["metrics"]
        return 1000 * next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    page.call("Page.navigate", url="file://" + arguments.place)
    page.wait(ROWS + " > 3", "rows")
    first = page.evaluate("performance.now()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    page.wait("document.getElementById('state').className === 'whole'", "all of it", 120)
    loading = page.evaluate("Math.max(0, ...window.longTasks)")
    ready = page.evaluate("performance.now()")
    page.evaluate("window.longTasks.length = 0")
    before = work()
    frames = 240
    page.evaluate("""new Promise((done) => {
      const box = document.getElementById("rows");
      window.drawn = 0;
      let step = 0;
      const move = () => {
        box.scrollTop = step % 2 ? box.scrollHeight * step / FRAMES : box.scrollTop + 900;
        window.drawn = Math.max(window.drawn, document.querySelectorAll("#rows .row").length);
        if (++step < FRAMES) requestAnimationFrame(move); else setTimeout(done, 300);
      };
      move();
    })""".replace("FRAMES", str(frames)))
    frame = (work() - before) / frames
    scrolling = page.evaluate("Math.max(0, ...window.longTasks)")
    drawn = page.evaluate("window.drawn")
    page.evaluate("window.longTasks.length = 0")
    before = work()
    start = time.monotonic()
    page.key("/")
    page.type("result type=calendar_create")
    page.key("Enter")
    page.wait("document.getElementById('said').textContent.includes(' of ')", "the filter's end", 60)
    filtering = time.monotonic() - start
    figures = {
        "first paint ms": round(paint), "first rows ms": round(first), "all there ms": round(ready),
        "longest task while loading ms": round(loading),
        "longest task while scrolling ms": round(scrolling),
        "work of a frame while scrolling ms": round(frame, 1),
        "filter ms": round(filtering * 1000), "work of the filter ms": round(work() - before),
        "longest task while filtering ms": round(page.evaluate("Math.max(0, ...window.longTasks)")),
        "rows in the page": drawn, "found": page.evaluate("document.getElementById('found').textContent"),
    }
    print(json.dumps(figures))
    expect(drawn < 120, f"{drawn} rows are in the page")
    expect(frame < 100, f"too much work: {figures}")
    fine(page, ["file://"])


def filters(browser, arguments):
    """The page's filters against the table that the terminal's have to pass."""
    page = browser.page("about:blank")
    with open(arguments.place, encoding="utf-8") as file:
        table = json.load(file)
    for path in arguments.scripts:
        with open(path, encoding="utf-8") as file:
            page.evaluate(file.read() + "\n;1")
    page.evaluate("window.table = " + json.dumps(table) + ", 1")
    wrong = page.evaluate("""(() => {
      const events = Object.entries(table.events).map(([name, line]) => [name, ExactJSON.parse(line)]);
      const wrong = [];
      for (const [source, names] of table.filters) {
        let found;
        try {
          const test = parseFilter(source);
          found = events.filter(([, event]) => test(event)).map(([name]) => name).join(" ");
        } catch (error) { found = String(error); }
        if (found !== names) wrong.push([source, names, found]);
      }
      for (const [source, message] of table.wrong) {
        let found = "it is taken";
        try { parseFilter(source); } catch (error) { found = error.message; }
        if (!found.startsWith(message)) wrong.push([source, message, found]);
      }
      return wrong;
    })()""")
    expect(not wrong, f"filter, what it should choose, what it chooses: {wrong}")


def raw(host, port, lines):
    """Sends a request as it is; gives the status of the answer."""
    with socket.create_connection((host, port), 10) as link:
        link.sendall("\r\n".join(lines + ["Connection: close", "", ""]).encode())
        answer = link.recv(4096).decode("latin-1")
    return answer.split(" ")[1] if " " in answer else answer


def refused(browser, arguments):
    """Who has not the token, comes by another name or from another page sees nothing."""
    rest = arguments.place.removeprefix("http://")
    authority, path = rest.split("/", 1)
    host, port = authority.rsplit(":", 1)
    path = "/" + path
    key = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    here = f"Host: {authority}"
    cases = [
        ("the page", "200", [f"GET {path} HTTP/1.1", here]),
        ("as localhost", "200", [f"GET {path} HTTP/1.1", f"Host: localhost:{port}"]),
        ("no token", "403", ["GET / HTTP/1.1", here]),
        ("a wrong token", "403", [f"GET /{'0' * 32}/ HTTP/1.1", here]),
        ("a token cut short", "403", [f"GET {path[:-3]}/ HTTP/1.1", here]),
        ("another name", "421", [f"GET {path} HTTP/1.1", f"Host: attacker.example:{port}"]),
        ("a name like an address", "421", [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1.nip.io:{port}"]),
        ("another page", "403", [f"GET {path}s/0/events/0 HTTP/1.1", here, "Origin: http://attacker.example"]),
        ("a page of another port", "403", [f"GET {path} HTTP/1.1", here, "Origin: http://127.0.0.1:1"]),
        ("a socket of another page", "403",
         [f"GET {path}s/0/live?from=0 HTTP/1.1", here, "Origin: http://attacker.example"] + key),
        ("a socket without a token", "403", ["GET /s/0/live?from=0 HTTP/1.1", here] + key),
        ("a socket by another name", "421",
         [f"GET {path}s/0/live?from=0 HTTP/1.1", "Host: attacker.example",
          "Origin: http://attacker.example"] + key),
        ("a change", "405", [f"POST {path} HTTP/1.1", here, "Content-Length: 0"]),
        ("something else", "404", [f"GET {path}../etc/passwd HTTP/1.1", here]),
    ]
    for name, status, lines in cases:
        found = raw(host, int(port), lines)
        expect(found == status, f"{name}: {found} instead of {status}")
    # A page of another origin, in a browser: neither its script nor its socket gets in.
    page = browser.page("data:text/html,<h1>elsewhere</h1>")
    page.wait("!!document.querySelector('h1')", "the other page")
    outcome = page.evaluate(f"""(async () => {{
      const read = await fetch("{arguments.place}s/0/events/0").then(() => "read", () => "refused");
      const socket = await new Promise((done) => {{
        const link = new WebSocket("{arguments.place.replace('http:', 'ws:')}s/0/live?from=0");
        link.onopen = () => done("open");
        link.onerror = () => done("refused");
      }});
      return [read, socket];
    }})()""")
    expect(outcome == ["refused", "refused"], f"another page got in: {outcome}")


def pictures(browser, arguments):
    """What it looks like, in light and dark."""
    for name, dark in (("light", False), ("dark", True)):
        page = browser.page("file://" + arguments.place + arguments.hash, dark=dark)
        shown(page)
        if arguments.tab:
            page.evaluate(f"document.getElementById('tab-{arguments.tab}').click()")
        time.sleep(0.5)
        page.picture(f"{arguments.out}-{name}.png")
        fine(page, ["file://"])


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scenario", choices=("whole", "broken", "pair", "report", "rules", "live", "recording", "both", "hostile", "big", "filters", "refused", "pictures"))
parser.add_argument("place", help="the page's file or address")
parser.add_argument("scripts", nargs="*")
parser.add_argument("--file", help="the session that grows")
parser.add_argument("--rest", help="what it grows by")
parser.add_argument("--rule", help="the rule that is broken")
parser.add_argument("--out", default="/tmp/inspector")
parser.add_argument("--hash", default="")
parser.add_argument("--tab", default="")
arguments = parser.parse_args()
try:
    with Browser() as browser:
        globals()[arguments.scenario](browser, arguments)
except AssertionError as error:
    sys.exit(f"{arguments.scenario}: {error}")
