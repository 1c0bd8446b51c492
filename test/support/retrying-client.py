"""A client and its tests for the tests of certify: retrying-client.py FLAW SUITE PAUSE. Standard library only."""

import json
import os
import sys
import time
import urllib.error
import urllib.request

flaw, suite, pause = sys.argv[1], sys.argv[2], float(sys.argv[3]) / 1000
# The statuses that it retries at once, three times in all, as urllib3 and tenacity do if nobody sets a pause.
retried = {
    "401": [401],
    "403": [403],
    "429": [429],
    "4xx": [401, 403, 429],
    "any": [401, 403, 429, 503],
    "endless": [503],
}.get(flaw, [])
address = os.environ["SVC_BASE_URL"]


def control(method, path, body=None):
    headers = {"Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(os.environ["SVC_CONTROL_URL"] + path, data, headers, method=method)) as response:
        text = response.read()
    return json.loads(text).get("data") if text else None


def send(ref):
    time.sleep(pause)
    key = os.environ["SVC_KEY_" + ref.upper().replace("-", "_")]
    request = urllib.request.Request(address + "/v1/relying-party/me", headers={"x-api-key": key})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.headers, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def whoami(ref):
    tries = 0
    while True:
        status, headers, text = send(ref)
        if flaw == "content-type" and headers["Content-Type"] != "application/json":
            raise AssertionError(headers["Content-Type"])
        tries += 1
        after = headers.get("Retry-After") or ""
        if flaw == "fixed" and status == 429 and tries < 3:
            time.sleep(1)
        elif flaw == "only-header" and status == 429 and tries < 4:
            time.sleep(min(10, float(after)) if after.isdigit() else 0)
        elif flaw in ("follows", "minute") and status == 429 and after.isdigit() and int(after) <= 10 and tries < 3:
            time.sleep(float(after))
        elif flaw == "minute" and status == 429 and tries < 2 and not text_of_test.startswith("429"):
            time.sleep(60 - time.time() % 60)
        elif flaw == "backoff" and status >= 500 and tries < 4:
            time.sleep(0.2 * 2**tries)
        elif status in retried and (tries < 3 or flaw == "endless"):
            continue
        else:
            return status


def check(ref, *statuses):
    global text_of_test
    text_of_test = f"{statuses[0]} {ref}"
    for status in statuses:
        got = whoami(ref)
        if got != status and flaw != "careless":
            raise AssertionError(f"{ref} got {got}, and not {status}")
        if status == 429 and len(statuses) > 1:
            control("POST", "/clock/advance", {"by": "60s"})


tests = [
    ("active", 200), ("live", 200), ("revoked", 401), ("expired", 401), ("wrong-scope", 403),
    ("organization-inactive", 403), ("rate-limited", 429), ("rate-limited-minute", 429, 200),
]  # fmt: skip
failed = 0
for one in tests + ([("own", 401)] * 2 if suite == "reset" else []):
    if suite == "reset":
        control("POST", "/reset")
    try:
        if one[0] == "own":
            control("POST", "/keys/active/revoke", {})
            check("active", 401)
        else:
            check(*one)
    except Exception as error:
        print(f"FAILED {one[0]}: {error}")
        failed = 1
sys.exit(failed)
