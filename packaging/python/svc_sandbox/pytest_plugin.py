"""The fixture `svc_sandbox`, also for pytest-xdist, and the option --min-coverage."""

import argparse
import os
import pathlib
import re

import pytest

from . import Server, merge_reports

_servers = []
_reports = []
_failures = []
_lines = []


def pytest_addoption(parser):
    words = "fail if the tests that use svc_sandbox cover fewer of the outcomes that the API promises"
    default = os.environ.get("SVC_SANDBOX_MIN_COVERAGE") or None
    parser.getgroup("svc-sandbox").addoption("--min-coverage", type=_percent, default=default, metavar="PERCENT", help=words)


def _percent(text):
    if re.fullmatch(r"[0-9]{1,3}", text) and int(text) <= 100:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}, or the value of SVC_SANDBOX_MIN_COVERAGE, is not a whole number from 0 to 100")


def pytest_configure(config):
    config.addinivalue_line("markers", "svc_sandbox(**options): scenario, seed, now, frozen or profile of the test's sandbox")


@pytest.fixture(scope="session")
def svc_sandbox_server(pytestconfig):
    """The server with the tests' sandboxes."""
    return _started(pytestconfig)


def _started(config):
    if _failures:
        pytest.fail("svc-sandbox did not start: the first failure shows why.", pytrace=False)
    try:
        if not _servers:
            # The same for all tests, whichever comes first and wherever it works.
            _servers.append(Server(config.rootpath))
        return _servers[0]
    except RuntimeError as error:
        _failures.append(error)
    pytest.fail(str(_failures[0]), pytrace=False)


@pytest.fixture
def svc_sandbox(request, monkeypatch):
    """This test's own sandbox; SVC_BASE_URL is its base URL."""
    marker = request.node.get_closest_marker("svc_sandbox")
    if marker and marker.args:
        pytest.fail(f"The mark svc_sandbox has its options by name: svc_sandbox(scenario={marker.args[0]!r}).", pytrace=False)
    options = dict(marker.kwargs) if marker else {}
    scenario, beside = options.get("scenario"), pathlib.Path(str(request.node.fspath)).parent
    # A file that a test names is next to it, or in the folder of the project.
    if isinstance(scenario, str) and scenario.lower().endswith((".yaml", ".yml")) and (beside / scenario).is_file():
        options["scenario"] = beside / scenario
    try:
        sandbox = _started(request.config).sandbox(**options)
    except (RuntimeError, ValueError, TypeError) as error:
        pytest.fail(str(error), pytrace=False)
    monkeypatch.setenv("SVC_BASE_URL", sandbox.base_url)
    yield sandbox
    try:
        requests = sandbox.control("GET", "/requests")
    except RuntimeError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    # pytest shows this if the test fails.
    for sent in requests:
        print(f"{sent['method']} {sent['path']} {sent['key'] or 'no known key'}: {sent['outcome']}")
    sandbox.close()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Takes the reports of a worker of xdist."""
    _reports.extend(getattr(node, "workeroutput", {}).get("svc_sandbox", ()))


# After pytest has ended the fixtures, also of a session that Ctrl-C stopped.
@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    config, minimum = session.config, session.config.getoption("--min-coverage")
    # Under exec, the report is that of exec.
    has_report = "SVC_SANDBOX_RUN" not in os.environ
    for server in _servers:
        if has_report:
            _reports.extend(server.reports())
        server.close()
    _servers.clear()
    if hasattr(config, "workerinput"):
        config.workeroutput["svc_sandbox"] = _reports
        return
    if not has_report or config.option.collectonly:
        return
    report, conclusion = None, "No test used svc_sandbox: nothing is covered."
    if _reports:
        # The text's last line, as exec prints it.
        report = merge_reports(_reports, project=config.rootpath)
        conclusion = merge_reports(_reports, "text", config.rootpath).strip().splitlines()[-1]
    if report is None and minimum is None:
        return
    coverage, outcomes = (report["coverage"]["percent"], report["outcomes"]) if report else (0, [])
    missed = {}
    for row in outcomes:
        if row["promised"] and not row["covered"]:
            what_to_do, shown = _how_to_cover(row)
            missed.setdefault(what_to_do, []).append(shown)
    lines = [conclusion]
    lines.extend(f"Not covered{what_to_do}: {', '.join(shown)}" for what_to_do, shown in missed.items())
    if report and report["advice"]:
        lines.append("In detail: " + ", ".join(one["id"] for one in report["advice"]) + ". What to do: docs/report.md#advice in the package svc-sandbox.")
    if minimum is not None and coverage < minimum:
        lines.append(f"The coverage is below --min-coverage {minimum}.")
        session.exitstatus = exitstatus or pytest.ExitCode.TESTS_FAILED
    _lines.extend(lines)


def _how_to_cover(row):
    """What to do to cover an outcome, and the outcome with the key to send."""
    how = row["how_to_cover"]
    if how is None:
        return "", row["outcome"]
    # The scenario of the folder may not have the key.
    scenario = f'with scenario="{how["scenario"]}", ' if how["scenario"] else ""
    return f" ({scenario}send the key)", f"{row['outcome']} ({how['ref']})"


def pytest_terminal_summary(terminalreporter):
    if _lines:
        terminalreporter.section("svc-sandbox")
        terminalreporter.write("".join(f"{line}\n" for line in _lines))
