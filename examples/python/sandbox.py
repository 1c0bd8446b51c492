"""Starts svc-sandbox for tests, and calls its control plane."""

import json
import os
import shutil
import subprocess
import urllib.request


class Sandbox:
    """
    A running sandbox: `base_url`, and `keys` by ref. Its clock is frozen until a test moves it.

    Under `svc-sandbox exec` it is an instance of that sandbox, whose report counts the tests. Otherwise it has its own
    process.
    """

    def __init__(self, scenario="key-states"):
        self._process = None
        self._control_url = os.environ.get("SVC_CONTROL_URL")
        if self._control_url is None:
            started = self._start(scenario)
        else:
            started = self._control("POST", "/instances", {"scenario": scenario})["data"]
        self.base_url = started["base_url"]
        self.keys = started["keys"]
        self._control_url = started["control_url"]
        self.reset()

    def _start(self, scenario):
        found = os.environ.get("SVC_SANDBOX_BIN") or shutil.which("svc-sandbox")
        program = [found] if found else [shutil.which("npx") or "npx", "--no-install", "svc-sandbox"]
        command = [*program, "start", scenario, "--until-stdin-ends", "--port", "0", "--quiet"]
        # It ends when this stdin closes, even if the tests crash.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        # It prints one line when it accepts requests, or nothing if it cannot start.
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"svc-sandbox ended with code {self._process.wait()} before it listened.")
        return json.loads(line)

    def advance(self, seconds):
        """Moves the sandbox's clock forward."""
        self._control("POST", "/clock/advance", {"by": f"{seconds:g}s"})

    def statuses(self, key):
        """The statuses of the requests with a key, oldest first. A request and its retries after faults count once."""
        return [request["status"] for request in self._control("GET", f"/requests?key={key}&faults=false")["data"]]

    def reset(self):
        """Starts the scenario again, and freezes its clock."""
        self._control("POST", "/reset", {})
        self._control("PUT", "/clock", {"frozen": True})

    def close(self):
        # An instance ends with its server.
        if self._process is None:
            return
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _control(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self._control_url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)
