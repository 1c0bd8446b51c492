"""The fixture `svc_sandbox`, also for pytest-xdist, and the option --min-coverage."""

import os

import pytest

from . import Server

_servers = []
_failures = []
_lines = []


def pytest_addoption(parser):
    words = "fail if the tests that use svc_sandbox cover fewer of the paths that the API promises"
    default = os.environ.get("SVC_SANDBOX_MIN_COVERAGE")
    parser.getgroup("svc-sandbox").addoption("--min-coverage", type=float, default=default, metavar="PERCENT", help=words)


def pytest_configure(config):
    config.addinivalue_line("markers", "svc_sandbox(**options): scenario, seed, now, frozen or profile of the test's sandbox")


@pytest.fixture(scope="session")
def svc_sandbox_server(request):
    """The server with the tests' sandboxes."""
    return _started(request.config)


def _started(config):
    if _failures:
        pytest.fail("svc-sandbox did not start: the first failure shows why.", pytrace=False)
    try:
        return _server(*getattr(config, "workerinput", {}).get("svc_sandbox", ()))
    except RuntimeError as error:
        _failures.append(error)
    pytest.fail(str(_failures[0]), pytrace=False)


@pytest.fixture
def svc_sandbox(request, monkeypatch):
    """This test's own sandbox; SVC_BASE_URL is its base URL."""
    marker = request.node.get_closest_marker("svc_sandbox")
    sandbox = _started(request.config).sandbox(**(marker.kwargs if marker else {}))
    monkeypatch.setenv("SVC_BASE_URL", sandbox.base_url)
    yield sandbox
    # pytest shows this if the test fails.
    for sent in sandbox.control("GET", "/requests"):
        print(f"{sent['method']} {sent['path']} {sent['key'] or 'no known key'}: {sent['path_id']}")
    sandbox.close()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Lets all workers of xdist share one server, so that there is one report."""
    try:
        server = _server()
        node.workerinput["svc_sandbox"] = (server.control_url, server.token)
    except RuntimeError:
        pass  # The tests may not need it: the fixture tries again, and fails with the message.


def _server(*given):
    if not _servers:
        _servers.append(Server(*given))
    return _servers[0]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    config, minimum = session.config, session.config.getoption("--min-coverage")
    # Under exec and in a worker, the report is that of the other process.
    if hasattr(config, "workerinput") or "SVC_CONTROL_URL" in os.environ or config.option.collectonly:
        return
    report, conclusion = None, "No test used svc_sandbox: nothing is covered."
    if _servers:
        server = _servers.pop()
        # The text's last line, as exec prints it.
        report, conclusion = server.report(), server.report("text").strip().splitlines()[-1]
        server.close()
    if report is None and minimum is None:
        return
    coverage, paths = (report["coverage"]["percent"], report["paths"]) if report else (0, [])
    missed = {path["path_id"]: path["how_to_cover"]["ref"] for path in paths if path["promised"] and not path["covered"]}
    lines = [conclusion]
    if missed:
        lines.append("Not covered (send the key): " + ", ".join(f"{path} ({ref})" for path, ref in missed.items()))
    if report and report["advice"]:
        lines.append("In detail: " + ", ".join(one["id"] for one in report["advice"]) + ". What to do: docs/report.md#advice in the package svc-sandbox.")
    if minimum is not None and coverage < minimum:
        lines.append(f"The coverage is below --min-coverage {minimum:g}.")
        session.exitstatus = exitstatus or pytest.ExitCode.TESTS_FAILED
    _lines.extend(lines)


def pytest_terminal_summary(terminalreporter):
    if _lines:
        terminalreporter.section("svc-sandbox")
        terminalreporter.write("".join(f"{line}\n" for line in _lines))
