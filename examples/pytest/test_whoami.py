"""Tests of a client: put yours in place of `whoami`.

Install: python3 -m pip install pytest ./node_modules/svc-sandbox/packaging/python
Run:     python3 -m pytest --min-coverage 80
"""

import http.client
import json
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime

import pytest

# Also if the folder has a scenario of its own.
pytestmark = pytest.mark.svc_sandbox(scenario="key-states")


def whoami(base_url, api_key, sleep=time.sleep, tries=3, can_wait=True):
    """
    Returns the status and the body. After a rejection it stops. After a 429 it waits and sends once more, if its caller can
    wait: a second 429, or a longer wait, is the day's limit, and it stops. After an outage it tries again, with pauses or when
    the API says.
    """
    outages = limits = 0
    while True:
        try:
            status, headers, body = ask(base_url, api_key)
        except (OSError, http.client.HTTPException, ValueError):
            if outages == tries - 1:
                raise
            status, headers = 503, {}
        if status >= 500 and outages < tries - 1:
            outages += 1
            sleep(seconds_to_wait(headers, 2**outages))
        elif status == 429 and can_wait and limits == 0 and seconds_to_wait(headers, 60) <= 120:
            limits += 1
            sleep(seconds_to_wait(headers, 60))
        else:
            return status, body


def ask(base_url, api_key):
    headers = {"x-api-key": api_key} if api_key else {}
    request = urllib.request.Request(f"{base_url}/v1/relying-party/me", headers=headers)
    try:
        response = urllib.request.urlopen(request, timeout=3)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        return response.status, response.headers, json.load(response)


def seconds_to_wait(headers, usual):
    """Retry-After may be absent, a number of seconds, or a date."""
    after = headers.get("Retry-After")
    if after is None or after.strip().isdigit():
        return int(after or usual)
    return max(0, (parsedate_to_datetime(after) - parsedate_to_datetime(headers["Date"])).total_seconds())


@pytest.fixture
def confirm(svc_sandbox):
    # Moves the sandbox's clock instead of waiting.
    def confirm(ref, can_wait=True):
        return whoami(svc_sandbox.base_url, svc_sandbox.key(ref), sleep=svc_sandbox.advance, can_wait=can_wait)

    return confirm


@pytest.mark.parametrize(
    ("ref", "environment"),
    [("active", "test"), ("live", "live"), ("legacy", "test"), ("retiring", "test"), ("replacement", "test")],
)
def test_a_good_key_is_confirmed(confirm, ref, environment):
    status, body = confirm(ref)
    assert status == 200
    data = body["data"]
    assert data["environment"] == environment
    # The name may change, and other scopes may come.
    assert data["organization"]["type"] in ("bank", "insurer")
    assert "attestations:read" in data["scopes"]
    assert data["limits"]["per_minute"] > 0 and data["usage"]["today"] >= 1


@pytest.mark.parametrize(
    ("ref", "status", "code"),
    [
        ("none", 401, "unauthorized"),
        ("malformed", 401, "unauthorized"),
        ("unknown", 401, "unauthorized"),
        ("revoked", 401, "unauthorized"),
        ("expired", 401, "unauthorized"),
        ("rotated", 401, "unauthorized"),
        ("wrong-scope", 403, "insufficient_scope"),
        ("live-not-approved", 403, "live_access_not_approved"),
        ("live-suspended", 403, "live_access_not_approved"),
        ("organization-inactive", 403, "access_denied"),
    ],
)
def test_a_rejected_key_is_sent_once(svc_sandbox, confirm, ref, status, code):
    got, body = confirm(ref)
    assert (got, body["error"]["code"]) == (status, code)
    assert svc_sandbox.statuses(ref) == [status]


def test_a_used_up_minute_is_waited_for(svc_sandbox, confirm):
    assert confirm("rate-limited-minute")[0] == 200
    assert svc_sandbox.statuses("rate-limited-minute") == [429, 200]


def test_a_caller_that_cannot_wait_gets_the_429(svc_sandbox, confirm):
    assert confirm("rate-limited", can_wait=False)[0] == 429
    assert svc_sandbox.statuses("rate-limited") == [429]


def test_a_replaced_key_ends_with_its_overlap(svc_sandbox, confirm):
    svc_sandbox.advance(31 * 60)
    assert confirm("retiring")[0] == 401


def test_a_key_that_has_worked_works_in_the_next_test(confirm):
    assert confirm("active")[0] == 200
