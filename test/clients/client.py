"""Polls (or, with `cancel`, cancels) a consent request with urllib3: it repeats what has the effect of one request."""
import json, os, sys, time, urllib.request, uuid
from email.utils import parsedate_to_datetime

import urllib3

pool = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(connect=4, read=4))
BASE = os.environ["SVC_BASE_URL"] + "/v1/relying-party"
CONSENT = {
    "farmer_id": "farmer_0123456789abcdef",
    "purpose": {"code": "credit_assessment", "text": "To assess a seasonal loan."},
    "permissions": ["identity", "land"],
}


def ask(method, path, key="LENDING", body=None, idempotency_key=None):
    headers = {"x-api-key": os.environ["SVC_KEY_" + key]} if key else {}
    if body is not None:
        headers["content-type"] = "application/json"
    if idempotency_key is not None:
        headers["idempotency-key"] = idempotency_key
    attempts = 3 if method != "POST" or idempotency_key is not None else 1
    for attempt in range(1, attempts + 1):
        pause = 0.5 * attempt
        try:
            response = pool.request(method, BASE + path, headers=headers, body=body and json.dumps(body))
            if response.status < 500:
                return response.status, json.loads(response.data)
            problem = RuntimeError(f"{method} {path}: {response.status}")
            pause = pause_of(response.headers.get("retry-after"), pause)
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            problem = error
        if attempt < attempts:
            time.sleep(pause)
    raise problem


def pause_of(retry_after, usual):
    if retry_after is None:
        return usual
    if retry_after.isdigit():
        return int(retry_after)
    return max(0, parsedate_to_datetime(retry_after).timestamp() - time.time())


status, created = ask("POST", "/consent-requests", body=CONSENT, idempotency_key=str(uuid.uuid4()))
assert status == 201, status
path = "/consent-requests/" + created["data"]["id"]
state = lambda: ask("GET", path)[1]["data"]["status"]
if sys.argv[1:] == ["cancel"]:
    try:
        assert ask("POST", path + "/cancel")[0] == 200
    except (urllib3.exceptions.HTTPError, ValueError, RuntimeError):
        if state() != "cancelled":
            assert ask("POST", path + "/cancel")[0] == 200
    assert state() == "cancelled"
else:
    for _ in range(5):
        if state() != "pending":
            break
        control = os.environ["SVC_CONTROL_URL"] + "/clock/advance"
        json_type = {"content-type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(control, b'{"by":"1h"}', json_type))
    assert state() == "granted"
for key, wanted in {"": 401, "MALFORMED": 401, "UNKNOWN": 401, "STATISTICS": 403}.items():
    status, _ = ask("GET", "/consent-requests/one", key)
    assert status == wanted, (key, status)
