"""Asks the relying-party API whose key this is. Standard library only."""

import json
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

# How long to wait after a 429 that does not say: until the minute's limit is a new one.
ONE_MINUTE = 60.0


def confirm_key(base_url, api_key, wait=time.sleep, attempts=3):
    """
    Answers {"result": "confirmed", "organization", "environment", "scopes", "usage"}; {"result": "rejected"} for a key
    that does not work (any more); {"result": "refused", "code"} for one that may not do this; {"result": "limited"}
    when the limit was still used up after the last attempt. Raises when there is no answer of the API at all.

    `wait` takes seconds, and is there for tests.
    """
    for attempt in range(1, attempts + 1):
        status, headers, body = _call(base_url, api_key)
        if status == 200:
            data = body["data"]
            # Without a scope the key has no right to anything.
            if not isinstance(data["scopes"], list) or not data["scopes"]:
                raise RuntimeError("The API confirmed the key without its scopes.")
            return {"result": "confirmed", **{name: data[name] for name in ("organization", "environment", "scopes", "usage")}}
        if status == 401:
            # It will be rejected for ever: whoever retries only makes noise. The API does not say what is wrong.
            return {"result": "rejected"}
        if status == 403:
            return {"result": "refused", "code": body["error"]["code"]}
        if status != 429:
            raise RuntimeError(f"The API answered {status}.")
        # By the status alone: the specification leaves the code open.
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
    """Seconds, from a header that may be absent, hold seconds, or hold a date."""
    if retry_after is None:
        return ONE_MINUTE
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return ONE_MINUTE
