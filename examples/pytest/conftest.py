"""Fixtures for tests against svc-sandbox: copy this file next to your tests. Python 3.8 or later."""

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest


class Sandbox:
    """A test's own sandbox: `base_url`, and `keys` by ref. Its clock is frozen until the test moves it."""

    def __init__(self, control_url, **options):
        started = _send("POST", f"{control_url}/instances", {"frozen": True, **options})
        self.id, self.base_url, self.keys = started["id"], started["base_url"], started["keys"]
        self.control_url = started["control_url"]

    def control(self, method, path, body=None):
        """Calls the control plane, and returns the `data` of its response."""
        return _send(method, self.control_url + path, body)

    def advance(self, seconds):
        """Moves the sandbox's clock forward."""
        self.control("POST", "/clock/advance", {"by": f"{seconds:g}s"})

    def statuses(self, ref):
        """The statuses of the requests with a key, oldest first. A request and its retries after faults count once."""
        return [request["status"] for request in self.control("GET", f"/requests?key={ref}&faults=false")]


def _send(method, url, body=None):
    headers = {"Content-Type": "application/json"}
    if "SVC_SANDBOX_CONTROL_TOKEN" in os.environ:
        headers["Authorization"] = f"Bearer {os.environ['SVC_SANDBOX_CONTROL_TOKEN']}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{method} {url}: {error.read().decode()}") from None
    return json.loads(text)["data"] if text else None


def _program():
    """SVC_SANDBOX_BIN, svc-sandbox on the PATH, or the package of npm."""
    found = os.environ.get("SVC_SANDBOX_BIN") or shutil.which("svc-sandbox")
    return [found] if found else [shutil.which("npx") or "npx", "--no-install", "svc-sandbox"]


def pytest_configure(config):
    config.addinivalue_line("markers", "sandbox(**options): scenario, seed, now, frozen or profile of the test's sandbox")


@pytest.fixture(scope="session")
def sandbox_control_url():
    """The control plane of `svc-sandbox exec -- pytest`, or of a server for this process or xdist worker."""
    if "SVC_CONTROL_URL" in os.environ:
        yield os.environ["SVC_CONTROL_URL"]
        return
    # The sandbox ends when this stdin closes, even if the tests crash.
    command = [*_program(), "start", "--until-stdin-ends", "--port", "0", "--quiet"]
    # In its own session, so that Ctrl-C does not stop it before the fixtures have finished.
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        line = process.stdout.readline()
        assert line, f"{' '.join(command)} did not start: see the captured stderr. To use another program, set SVC_SANDBOX_BIN."
        yield json.loads(line)["control_url"]
        process.stdin.close()


@pytest.fixture
def sandbox(request, sandbox_control_url, monkeypatch):
    """This test's own sandbox; SVC_BASE_URL is its base URL."""
    marker = request.node.get_closest_marker("sandbox")
    sandbox = Sandbox(sandbox_control_url, **(marker.kwargs if marker else {}))
    monkeypatch.setenv("SVC_BASE_URL", sandbox.base_url)
    yield sandbox
    # pytest shows this if the test fails.
    for sent in sandbox.control("GET", "/requests"):
        print(f"{sent['method']} {sent['path']} {sent['key'] or 'no known key'}: {sent['path_id']}")
    _send("DELETE", f"{sandbox_control_url}/instances/{sandbox.id}")


@pytest.fixture
def key(sandbox):
    """Returns the key with a ref: key("revoked")."""

    def find(ref):
        if ref not in sandbox.keys:
            pytest.fail(f"No key {ref!r}. Keys: {', '.join(sandbox.keys)}.", pytrace=False)
        return sandbox.keys[ref]

    return find
