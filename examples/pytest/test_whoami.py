import http.client
import json
import os
import time
import urllib.error
import urllib.request

import pytest


def whoami(api_key):
    """The client: returns the status, and the organization's type or the error code. Tries again only after an outage."""
    for pause in (1, 2, None):
        try:
            return ask(api_key)
        except (OSError, http.client.HTTPException, ValueError):
            if pause is None:
                raise
            time.sleep(pause)


def ask(api_key):
    url = os.environ["SVC_BASE_URL"] + "/v1/relying-party/me"
    request = urllib.request.Request(url, headers={"x-api-key": api_key})
    try:
        with urllib.request.urlopen(request, timeout=3) as response:
            return response.status, json.load(response)["data"]["organization"]["type"]
    except urllib.error.HTTPError as error:
        if error.code >= 500:
            raise
        return error.code, json.load(error)["error"]["code"]


def test_a_good_key(key):
    assert whoami(key("active")) == (200, "bank")


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("revoked", (401, "unauthorized")),
        ("expired", (401, "unauthorized")),
        ("rotated", (401, "unauthorized")),
        ("wrong-scope", (403, "insufficient_scope")),
        ("live-not-approved", (403, "live_access_not_approved")),
        ("live-suspended", (403, "live_access_not_approved")),
        ("organization-inactive", (403, "access_denied")),
    ],
)
def test_a_rejected_key_is_sent_once(sandbox, key, ref, expected):
    assert whoami(key(ref)) == expected
    assert sandbox.statuses(ref) == [expected[0]]


def test_a_used_up_minute_ends(sandbox, key):
    limited = key("rate-limited-minute")
    # Check only the status: the specification leaves the code open.
    assert whoami(limited)[0] == 429
    sandbox.advance(60)
    assert whoami(limited)[0] == 200
    assert sandbox.statuses("rate-limited-minute") == [429, 200]


@pytest.mark.parametrize("_", range(4))
def test_no_test_sees_another(sandbox, key, _):
    sandbox.control("POST", "/keys/active/revoke", {})
    assert whoami(key("active")) == (401, "unauthorized")


@pytest.mark.sandbox(scenario="rotation")
def test_another_scenario(sandbox):
    assert "active" not in sandbox.keys
