"""A headless Chromium, driven through its pipe (the DevTools protocol), in plain Python."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

DEADLINE_S = 30
FLAGS = ["--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
         "--disable-extensions", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--hide-scrollbars"]


class Failure(Exception):
    pass


class Chromium:
    """Shows one page at a time, and records its log and its network requests."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="jtool-browser.")
        self.last_id = 0
        self.pending = b""
        self.session = None
        self.console, self.requests = [], []
        self.process = None
        self._start()

    def _start(self):
        reads, self.to = os.pipe()
        self.of, writes = os.pipe()
        flags = FLAGS + ["--user-data-dir=" + self.home]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        # Chromium reads from descriptor 3 and writes to 4.
        with open(os.path.join(self.home, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec chromium "$@" 3<&{reads} 4>&{writes}', "bash", *flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[reads, writes],
                env=dict(os.environ, HOME=self.home), start_new_session=True)
        os.close(reads)
        os.close(writes)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def close(self):
        os.close(self.to)  # Chromium exits at the end of its input
        os.close(self.of)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def _log(self):
        with open(os.path.join(self.home, "log"), encoding="utf-8", errors="replace") as log:
            return log.read()[-2000:]

    def _message(self, deadline):
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.of], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.of, 1 << 20) if ready else b""
            if not data:
                raise Failure("Chromium does not answer:\n" + self._log())
            self.pending += data
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def _event(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.console.append(str(params["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(str(params["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.console.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        self.last_id += 1
        request = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + DEADLINE_S
        while True:
            message = self._message(deadline)
            if message.get("id") != self.last_id:
                self._event(message)
            elif "error" in message:
                raise Failure(f"{method}: {message['error']}")
            else:
                return message["result"]

    def open(self, path, width=1280, height=720, scale=1, dark=False, moving=False, fragment=""):
        """Shows a file; drops the log of the previous page."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "no-preference" if moving else "reduce"}])
        self.console, self.requests = [], []
        # If only the fragment changed, Chromium would not load the page again.
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.requests = []
        self.call("Page.navigate", url="file://" + os.path.realpath(path) + fragment)
        self.wait("location.protocol === 'file:'")
        self.wait("document.readyState === 'complete'")
        self.settle()

    def run(self, expression):
        """Returns the value of an expression, or of the promise that it returns."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression):
        deadline = time.monotonic() + DEADLINE_S
        while not self.run(expression):
            if time.monotonic() > deadline:
                raise Failure(f"{expression}: not within {DEADLINE_S} s")

    def settle(self):
        """Waits until the page is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def mouse(self, x, y, click=False):
        kinds = ["mouseMoved"] + (["mousePressed", "mouseReleased"] if click else [])
        for kind in kinds:
            button = "none" if kind == "mouseMoved" else "left"
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button,
                      clickCount=1)
        self.settle()

    def key(self, key, text=None):
        extra = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **extra)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self, path):
        png = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as out:
            out.write(png)
