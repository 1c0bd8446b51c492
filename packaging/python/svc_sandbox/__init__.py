"""Gives each test its own svc-sandbox: pytest's fixture `svc_sandbox`, or `Server` for other runners. Python 3.8 or later."""

import datetime
import http.client
import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

WAYS = """Do one of these:
- put the executable svc-sandbox on the PATH
- load the image: docker pull ghcr.io/svc-sandbox/svc-sandbox
- with Node, install the npm package svc-sandbox where the tests run
- set SVC_SANDBOX_BIN to the executable, or to docker:<image>"""


# The tests call a sandbox over HTTP on this machine, and its control plane.
UNUSABLE = ("SVC_SANDBOX_HOST", "SVC_SANDBOX_TLS", "SVC_SANDBOX_CERT", "SVC_SANDBOX_PUBLIC_URL")


class Server:
    """
    Starts a process for each sandbox in use, and uses idle ones again. All end with this one. Use it with `with`, or close it.
    Its scenario is `svc-sandbox.yaml` of the folder, by default the working folder, or key-states.
    """

    def __init__(self, folder=None):
        self._folder = pathlib.Path(folder or ".").absolute()
        self._program = _program(self._folder)
        self._all, self._idle = [], []
        self._starting, self._changing = threading.Lock(), threading.Lock()
        self._give_back(self._take())

    def sandbox(self, **options):
        """
        Starts a sandbox: `scenario` (a bundled name, a YAML file of the folder, or a dict), `seed`, `now` (a datetime or a text),
        `frozen` (default: True), `profile`.
        """
        process = self._take()
        try:
            return Sandbox(self, process, {"frozen": True, **options})
        except BaseException:
            self._give_back(process)
            raise

    def report(self, format="json"):
        """The report of all tests: `json` as a dict, `text`, `markdown` and `junit` as text."""
        return merge_reports(self.reports(), format, self._folder)

    def reports(self):
        """The JSON reports of its processes, for `merge_reports`."""
        with self._changing:
            for process in self._idle:
                # A report tells how to cover the rest with what runs: the scenario of the folder, not that of the last test.
                if process.is_running():
                    process.send("POST", "/reset", {"scenario": process.scenario, "frozen": True})
        return [process.send("GET", "/report") for process in self._all if process.is_running()]

    def close(self):
        """Ends the processes, and writes on stderr what they wrote there."""
        processes, self._all, self._idle = self._all, [], []
        for process in processes:
            process.stop()
        sys.stderr.write("".join(process.end() for process in processes))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _take(self):
        process = self._take_idle()
        if process is None:
            with self._starting:
                # A test may have ended while another process started.
                process = self._take_idle()
                if process is None:
                    process = _Process(self._program, self._folder)
                    self._all.append(process)
        return process

    def _take_idle(self):
        with self._changing:
            while self._idle:
                process = self._idle.pop()
                if process.is_running():
                    return process
        return None

    def _give_back(self, process):
        with self._changing:
            self._idle.append(process)


class _Process:
    def __init__(self, program, folder):
        self.folder = folder
        self._token, environment = os.environ.get("SVC_SANDBOX_CONTROL_TOKEN"), dict(os.environ)
        command = [program, "start", "--until-stdin-ends", "--show-keys", "--quiet", "--port", "0"]
        if program.startswith("docker:"):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            # A server that others can reach needs a token.
            self._token = environment["SVC_SANDBOX_CONTROL_TOKEN"] = self._token or secrets.token_hex(16)
            publish = ["--env", "SVC_SANDBOX_CONTROL_TOKEN", "--publish", f"127.0.0.1:{port}:4747"]
            command = _in_image(program, folder, *publish) + [*command[1:-1], "4747", "--public-url", f"http://127.0.0.1:{port}"]
        else:
            _require_usable(environment)
        # It ends when this stdin closes, even if the tests crash. In its own session, so that Ctrl-C leaves it to them.
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        pipes = {"cwd": folder, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors, "start_new_session": True}
        failed = f"`{' '.join(command)}` did not start svc-sandbox"
        try:
            self._process = subprocess.Popen(command, env=environment, **pipes)
        except OSError as error:
            raise RuntimeError(f"{failed}: {error}. {WAYS}") from None
        line = self._process.stdout.readline()
        if not line:
            self.stop()
            raise RuntimeError(f"{failed}:\n{self.end()}")
        started = json.loads(line)
        self.base_url, self._control_url, self.scenario = (started[name] for name in ("base_url", "control_url", "scenario"))

    def is_running(self):
        return self._process.poll() is None

    def stop(self):
        self._process.stdin.close()

    def end(self):
        """Waits until it has ended, and returns what it wrote on stderr."""
        self._process.wait()
        self._process.stdout.close()
        with self._errors:
            return self._written()

    def _written(self):
        self._errors.seek(0)
        return self._errors.read()

    def _why_ended(self):
        """Why it did not respond, if it has ended; None if it runs."""
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return None
        last = "".join(f"\n{line}" for line in self._written().splitlines()[-20:])
        return f"svc-sandbox ended with code {code}{last}"

    def send(self, method, path, body=None):
        """Calls the control plane: with YAML if the body is bytes."""
        headers = {"Content-Type": "application/yaml" if isinstance(body, bytes) else "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = body if body is None or isinstance(body, bytes) else json.dumps(body, default=_as_text).encode()
        request = urllib.request.Request(self._control_url + path, data, headers, method=method)
        try:
            with _direct.open(request, timeout=30) as response:
                text, kind = response.read().decode(), response.headers.get_content_type()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()}") from None
        except (OSError, http.client.HTTPException) as error:
            raise RuntimeError(self._why_ended() or f"{method} {path}: {error}") from None
        if kind != "application/json":
            return text or None
        value = json.loads(text)
        return value.get("data", value)


def _require_usable(environment):
    for name in UNUSABLE:
        if environment.get(name, "").lower() not in ("", "0", "false", "no", "off"):
            raise RuntimeError(f"{name} is set, and the sandboxes of tests are on 127.0.0.1, over HTTP, with a control plane. Unset it.")


def _as_text(value):
    """A time or a duration of Python, as a scenario has it; also in a dict that PyYAML has read."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError(f"The time {value} has no zone: add one, such as tzinfo=datetime.timezone.utc.")
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        milliseconds = round(value.total_seconds() * 1000)
        return f"{milliseconds}ms" if milliseconds % 1000 else f"{milliseconds // 1000}s"
    raise TypeError(f"{value!r} is not a value of a scenario or a call: use text, numbers, lists, dicts and times.")


# A proxy of the network does not reach this machine.
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Sandbox:
    """A test's own sandbox: `base_url`, and `keys` by ref. Its clock is frozen until the test moves it."""

    def __init__(self, server, process, options):
        self._server, self._process, self.base_url = server, process, process.base_url
        # A test that chooses none has the folder's, or key-states: an error shows where it was looked for.
        self._why = "" if "scenario" in options else f", that of {process.folder}"
        chosen = options.pop("scenario", process.scenario)
        if isinstance(chosen, (str, os.PathLike)) and str(chosen).lower().endswith((".yaml", ".yml")) and chosen != process.scenario:
            # The seed is that of the file, unless the test chooses one: it makes the keys part of the response.
            started = process.send("PUT", "/scenario", _read(chosen, process.folder))
            options = {"seed": started["seed"], **options}
            self._scenario = str(chosen)
        else:
            options["scenario"] = chosen
            self._scenario = chosen if isinstance(chosen, str) else "of the test"
        self.keys = process.send("POST", "/reset", options)["keys"]

    def key(self, ref):
        """The key with a ref; `unknown` and `malformed` are keys that no sandbox has, and `none` is None."""
        if ref == "none":
            return None
        if ref not in self.keys:
            keys = ", ".join(self.keys)
            raise LookupError(f"No key {ref!r} in the scenario {self._scenario}{self._why}. Keys: {keys}.")
        return self.keys[ref]

    def advance(self, by):
        """Moves the clock forward by seconds, a timedelta, or a duration as scenarios write it, such as "10m"."""
        if isinstance(by, datetime.timedelta):
            by = by.total_seconds()
        if not isinstance(by, str):
            by = f"{round(by * 1000)}ms"
        self.control("POST", "/clock/advance", {"by": by})

    def statuses(self, ref):
        """The statuses of the requests with a key, oldest first. A request and its retries after faults count once."""
        return [request["status"] for request in self.control("GET", f"/requests?key={ref}&faults=false")]

    def expect(self, outcome=None, key=None, count=None):
        """Fails unless `count` requests match, by default at least one."""
        wanted = {"outcome": outcome, "key": key, "count": count}
        query = urllib.parse.urlencode({name: value for name, value in wanted.items() if value is not None})
        try:
            return self.control("GET", f"/expect?{query}")["count"]
        except RuntimeError as error:
            if "expectation_failed" not in str(error):
                raise
            raise AssertionError(str(error)) from None

    def control(self, method, path, body=None):
        """Calls the control plane, and returns the `data` of its response."""
        return self._process.send(method, path, body)

    def close(self):
        """Leaves the process to the next test."""
        server, self._server = self._server, None
        if server:
            server._give_back(self._process)


def _read(file, folder):
    path = pathlib.Path(folder, file)
    try:
        return path.read_bytes()
    except OSError as error:
        raise RuntimeError(f"The scenario {str(file)!r} cannot be read in {folder}: {error.strerror}.") from None


def merge_reports(reports, format="json", project="."):
    """Merges the JSON reports of several servers, as the command `report --merge` does. `project` is the folder of the tests."""
    program = _program(pathlib.Path(project).absolute())
    with tempfile.TemporaryDirectory() as folder:
        command, inside = [program], folder
        if program.startswith("docker:"):
            command, inside = _in_image(program, folder), "/sandbox"
        command += ["report", "--merge", "--format", format]
        for index, report in enumerate(reports):
            pathlib.Path(folder, f"{index}.json").write_text(json.dumps(report), encoding="utf-8")
            command.append(f"{inside}/{index}.json")
        # The user of the image must read it.
        os.chmod(folder, 0o755)
        # A minimum is for the caller.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_SANDBOX_")}
        outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
        ended = subprocess.run(command, env=environment, **outputs)
    if ended.returncode:
        raise RuntimeError(f"`{' '.join(command)}` failed:\n{ended.stderr}")
    return json.loads(ended.stdout) if format == "json" else ended.stdout


def _in_image(program, folder, *options):
    volume = f"{folder}:/sandbox:ro"
    return ["docker", "run", "--rm", "--interactive", *options, "--volume", volume, program[len("docker:") :]]


def _program(folder):
    """SVC_SANDBOX_BIN, svc-sandbox on the PATH, an image on this machine, or the package of npm in the folder or above it."""
    found = os.environ.get("SVC_SANDBOX_BIN") or shutil.which("svc-sandbox") or _image()
    installed = (shutil.which("svc-sandbox", path=str(one / "node_modules/.bin")) for one in [folder, *folder.parents])
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
    listed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace")
    return (listed.stdout.split() or [None])[0]
