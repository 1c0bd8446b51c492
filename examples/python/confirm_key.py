"""Checks a key with the relying-party API. Standard library only."""

import json
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

# How long to wait after a 429 without Retry-After: the limit resets within a minute.
ONE_MINUTE = 60.0


def confirm_key(base_url, api_key, wait=time.sleep, attempts=3):
    """
    Returns one of:

    - {"result": "confirmed", "organization", "environment", "scopes", "usage"}
    - {"result": "rejected"}: the key is not valid
    - {"result": "refused", "code"}: the key is valid, but lacks a permission
    - {"result": "limited"}: the limit was still used up after the last attempt

    Raises on any other response. Tests pass their own `wait`, which gets seconds.
    """
    for attempt in range(1, attempts + 1):
        status, headers, body = _call(base_url, api_key)
        if status == 200:
            data = body["data"]
            # A key without scopes has no permissions.
            if not isinstance(data["scopes"], list) or not data["scopes"]:
                raise RuntimeError("The API confirmed the key without its scopes.")
            return {"result": "confirmed", **{name: data[name] for name in ("organization", "environment", "scopes", "usage")}}
        if status == 401:
            # Do not retry: the key stays invalid. The API does not reveal the reason.
            return {"result": "rejected"}
        if status == 403:
            return {"result": "refused", "code": body["error"]["code"]}
        if status != 429:
            raise RuntimeError(f"The API returned {status}.")
        # Check only the status: the specification leaves the code open.
        if attempt < attempts:
            wait(_seconds_to_wait(headers.get("Retry-After")))
    return {"result": "limited"}


def _call(base_url, api_key):
    request = urllib.request.Request(f"{base_url}/v1/relying-party/me", headers={"x-api-key": api_key})
    try:
        response = urllib.request.urlopen(request, timeout=10)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        return response.status, response.headers, json.load(response)


def _seconds_to_wait(retry_after):
    """Seconds from Retry-After, which may be absent, a number of seconds, or a date."""
    if retry_after is None:
        return ONE_MINUTE
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return ONE_MINUTE
