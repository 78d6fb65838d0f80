"""A headless Chromium, moved over its DevTools protocol: what a person would do in a page."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from websockets.sync.client import connect

CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser")
                 if os.path.exists(path)), "chromium")


class Browser:
    """A browser with a profile of its own, which is gone with it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="bridgetap-browser-")
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--remote-debugging-port=0", "--no-first-run",
             "--user-data-dir=" + self.folder, "--no-sandbox", "--disable-gpu", "--mute-audio",
             "--disable-extensions", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--no-proxy-server", "--disable-dev-shm-usage",
             "--window-size=1366,768", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True, text=True)
        self.url = None
        for line in self.process.stderr:
            match = re.search(r"DevTools listening on (ws://\S+)", line)
            if match:
                self.url = match[1]
                break
        if not self.url:
            raise SystemExit("the browser did not start")
        # Nobody reads what it says from here on; it must not wait for that.
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)
        self.socket = connect(self.url, max_size=None, open_timeout=30)
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except Exception:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)
        self.drain.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, session=None, /, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=60))
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def page(self, url, **options):
        return Page(self, url, **options)


class Page:
    """One page, with all that it asked for and complained about."""

    KEYS = {"Escape": ("Escape", 27, ""), "Enter": ("Enter", 13, "\r"), "/": ("Slash", 191, "/"),
            "ArrowDown": ("ArrowDown", 40, "")}

    def __init__(self, browser, url, dark=False, size=(1366, 768)):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.addScriptToEvaluateOnNewDocument", source="""
            window.longTasks = [];
            new PerformanceObserver((list) => {
              for (const task of list.getEntries()) window.longTasks.push(task.duration);
            }).observe({ type: "longtask", buffered: true });""")
        self.url = url
        self.call("Page.navigate", url=url)

    def call(self, method, /, **params):
        return self.browser.call(method, self.session, **params)

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script, what, seconds=30):
        """Waits until a script gives something true, and gives that."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                value = self.evaluate(script)
            except RuntimeError as error:
                # The page may only be on its way.
                value = error
            else:
                if value:
                    return value
            time.sleep(0.02)
        raise AssertionError(f"{what} did not come: {script} gives {value!r}")

    def key(self, key):
        code, number, text = self.KEYS.get(key, ("Key" + key.upper(), ord(key.upper()[0]), key))
        modifiers = 8 if len(key) == 1 and key.isupper() else 0
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            import base64
            file.write(base64.b64decode(data))

    def of_session(self, *methods):
        return [event["params"] for event in self.browser.events
                if event.get("sessionId") == self.session and event["method"] in methods]

    def requests(self):
        """The addresses of all that the page asked for."""
        self.evaluate("1")
        found = [params["request"]["url"] for params in self.of_session("Network.requestWillBeSent")]
        return found + [params["url"] for params in self.of_session("Network.webSocketCreated")]

    def complaints(self):
        """Errors of scripts, of the policy, and of whatever could not be had."""
        self.evaluate("1")
        errors = [params["exceptionDetails"].get("exception", {}).get("description", "exception")
                  for params in self.of_session("Runtime.exceptionThrown")]
        errors += [str(params["args"]) for params in self.of_session("Runtime.consoleAPICalled")
                   if params["type"] in ("error", "warning", "assert")]
        errors += [f"{params['entry']['text']} {params['entry'].get('url', '')}"
                   for params in self.of_session("Log.entryAdded")
                   if params["entry"]["level"] in ("error", "warning")]
        errors += ["a dialog" for _ in self.of_session("Page.javascriptDialogOpening")]
        return errors
