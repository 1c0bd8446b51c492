"""Starts svc-sandbox for tests, and speaks to its control plane."""

import json
import os
import signal
import subprocess
import urllib.request


class Sandbox:
    """A running sandbox: `base_url` and `keys`, a dictionary from refs to keys."""

    def __init__(self, scenario="key-states"):
        command = ["npx", "--yes", "svc-sandbox", scenario, "--port", "0", "--frozen", "--json", "--log", "off"]
        # In a session of its own, so that npx and what it starts can be stopped together.
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        # It prints one line, once it accepts requests; none when it could not start.
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"svc-sandbox ended with code {self._process.wait()} before it listened.")
        started = json.loads(line)
        self.base_url = started["base_url"]
        self.keys = started["keys"]
        self._control_url = started["control_url"]

    def advance(self, seconds):
        """Moves the sandbox's clock on."""
        self._control("POST", "/clock/advance", {"by": f"{seconds:g}s"})

    def statuses(self, key):
        """How the requests with a key's ref ended, oldest first."""
        return [request["status"] for request in self._control("GET", f"/requests?key={key}")["data"]]

    def reset(self):
        """Starts the scenario again."""
        self._control("POST", "/reset", {})

    def close(self):
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait()
        self._process.stdout.close()

    def _control(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self._control_url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)
