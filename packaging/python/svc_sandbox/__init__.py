"""Gives each test its own svc-sandbox: pytest's fixture `svc_sandbox`, or `Server` for other runners. Python 3.8 or later."""

import json
import os
import pathlib
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

WAYS = """Do one of these:
- put the executable svc-sandbox on the PATH
- load the image: docker pull ghcr.io/svc-sandbox/svc-sandbox
- with Node, install the npm package svc-sandbox where the tests run
- set SVC_SANDBOX_BIN to the executable, or to docker:<image>"""


class Server:
    """The server of `svc-sandbox exec -- <tests>`, or one that ends with this process. Use it with `with`, or close it."""

    def __init__(self, control_url=None, token=None):
        self._process = None
        self.control_url = control_url or os.environ.get("SVC_CONTROL_URL")
        self.token = token or os.environ.get("SVC_SANDBOX_CONTROL_TOKEN")
        self.is_own = self.control_url is None
        if self.is_own:
            self._start()

    def sandbox(self, **options):
        """Starts a sandbox: `scenario` (a bundled name or a dict), `seed`, `now`, `frozen` (default: True), `profile`."""
        return Sandbox(self, self._send("POST", "/instances", {"frozen": True, **options}))

    def report(self, format="json"):
        """The report of all tests: `json` as a dict, `text`, `markdown` and `junit` as text."""
        return self._send("GET", f"/report?format={format}")

    def close(self):
        if self._process:
            sys.stderr.write(self._end())

    def _end(self):
        """Ends the process, and returns what it wrote on stderr."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._process = None
        with self._errors as errors:
            errors.seek(0)
            return errors.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self):
        program, environment = _program(), dict(os.environ)
        command = [program, "start", "--until-stdin-ends", "--quiet", "--port", "0"]
        if program.startswith("docker:"):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            # A server that others can reach needs a token.
            self.token = environment["SVC_SANDBOX_CONTROL_TOKEN"] = self.token or secrets.token_hex(16)
            run = ["docker", "run", "--rm", "--interactive", "--env", "SVC_SANDBOX_CONTROL_TOKEN"]
            run += ["--publish", f"127.0.0.1:{port}:4747", "--volume", f"{os.getcwd()}:/sandbox:ro"]
            image = program[len("docker:") :]
            command = [*run, image, *command[1:-1], "4747", "--public-url", f"http://127.0.0.1:{port}"]
        # It ends when this stdin closes, even if the tests crash. In its own session, so that Ctrl-C leaves it to them.
        self._errors = tempfile.TemporaryFile("w+")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors, "start_new_session": True}
        failed = f"`{' '.join(command)}` did not start svc-sandbox"
        try:
            self._process = subprocess.Popen(command, env=environment, **pipes)
        except OSError as error:
            raise RuntimeError(f"{failed}: {error}. {WAYS}") from None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{failed}:\n{self._end()}")
        self.control_url = json.loads(line)["control_url"]

    def _send(self, method, path, body=None, url=None):
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request((url or self.control_url) + path, data, headers, method=method)
        try:
            # Under `exec --tls`.
            trust = ssl.create_default_context(cafile=os.environ.get("SVC_CA_FILE"))
            with urllib.request.urlopen(request, timeout=30, context=trust) as response:
                text, kind = response.read().decode(), response.headers.get_content_type()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()}") from None
        if kind != "application/json":
            return text or None
        value = json.loads(text)
        return value.get("data", value)


class Sandbox:
    """A test's own sandbox: `base_url`, and `keys` by ref. Its clock is frozen until the test moves it."""

    def __init__(self, server, started):
        self._server, self._id, self._url = server, started["id"], started["control_url"]
        self.base_url, self.keys = started["base_url"], started["keys"]

    def key(self, ref):
        """The key with a ref; `unknown` and `malformed` are keys that no sandbox has, and `none` is None."""
        if ref == "none":
            return None
        if ref not in self.keys:
            raise LookupError(f"No key {ref!r}. Keys: {', '.join(self.keys)}.")
        return self.keys[ref]

    def advance(self, seconds):
        """Moves the clock forward."""
        self.control("POST", "/clock/advance", {"by": f"{seconds:g}s"})

    def statuses(self, ref):
        """The statuses of the requests with a key, oldest first. A request and its retries after faults count once."""
        return [request["status"] for request in self.control("GET", f"/requests?key={ref}&faults=false")]

    def expect(self, path_id=None, key=None, count=None):
        """Fails with the five nearest requests unless `count` requests match, by default at least one."""
        wanted = {"path_id": path_id, "key": key, "count": count}
        query = urllib.parse.urlencode({name: value for name, value in wanted.items() if value is not None})
        try:
            return self.control("GET", f"/expect?{query}")["count"]
        except RuntimeError as error:
            if "expectation_failed" not in str(error):
                raise
            raise AssertionError(str(error)) from None

    def control(self, method, path, body=None):
        """Calls the control plane, and returns the `data` of its response."""
        return self._server._send(method, path, body, self._url)

    def close(self):
        self._server._send("DELETE", f"/instances/{self._id}")


def _program():
    """SVC_SANDBOX_BIN, svc-sandbox on the PATH, an image on this machine, or the package of npm."""
    found = os.environ.get("SVC_SANDBOX_BIN") or shutil.which("svc-sandbox") or _image()
    folders = [pathlib.Path.cwd(), *pathlib.Path.cwd().parents]
    installed = (shutil.which("svc-sandbox", path=str(folder / "node_modules/.bin")) for folder in folders)
    found = found or next(filter(None, installed), None)
    if not found:
        raise RuntimeError(f"svc-sandbox was not found. {WAYS}")
    return found


def _image():
    if not shutil.which("docker"):
        return None
    command = ["docker", "images", "--format", "docker:{{.Repository}}:{{.Tag}}"]
    for name in ("svc-sandbox", "ghcr.io/svc-sandbox/svc-sandbox"):
        command += ["--filter", f"reference={name}"]
    # Without a running daemon it prints nothing.
    listed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return (listed.stdout.split() or [None])[0]
