# A good client over one of the usual libraries of Python: `client.py <library> <mistake>`.
import json
import os
import sys
import urllib.error
import urllib.request

library, mistake = sys.argv[1:]
url = os.environ["SVC_BASE_URL"] + "/v1/relying-party/me"
failures = (500, 502, 503, 504)


def by_urllib(headers):
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=2.5)
    except urllib.error.HTTPError as refused:
        answer = refused
    return answer.status, answer.headers, answer.read().decode()


def retrying(urllib3):
    return urllib3.Retry(3, status_forcelist=failures, backoff_factor=0.05, respect_retry_after_header=False)


def by_urllib3(retries):
    import urllib3

    pool = urllib3.PoolManager(timeout=2.5, retries=retrying(urllib3) if retries else False)

    def send(headers):
        answer = pool.request("GET", url, headers=headers)
        return answer.status, answer.headers, answer.data.decode()

    return send


def by_requests(retries):
    import requests
    import urllib3

    session = requests.Session()
    if retries:
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retrying(urllib3)))

    def send(headers):
        answer = session.get(url, headers=headers, timeout=2.5)
        return answer.status_code, answer.headers, answer.text

    return send


def ask(send, key):
    for left in (2, 1, 0):
        try:
            status, headers, text = send({"x-api-key": key})
            if status in failures:
                raise IOError(status)
            return status, headers, json.loads(text)
        except Exception:
            if left == 0:
                raise


made = {
    "urllib": lambda: by_urllib,
    "urllib3": lambda: by_urllib3(False),
    "urllib3-retry": lambda: by_urllib3(True),
    "requests": lambda: by_requests(False),
    "requests-retry": lambda: by_requests(True),
}
send = made[library]()
for name, expected in (
    ("SVC_API_KEY", 200),
    ("SVC_KEY_REVOKED", 401),
    ("SVC_KEY_EXPIRED", 401),
    ("SVC_KEY_ORGANIZATION_INACTIVE", 403),
    ("SVC_KEY_RATE_LIMITED", 429),
):
    status, headers, body = ask(send, os.environ[name])
    assert status == expected, status
    if mistake == "limits_members" and status == 200:
        assert all(isinstance(limit, int) for limit in body["data"]["limits"].values()), body
        assert len(body["data"]["limits"]) == 2, body
    if mistake == "www_authenticate" and status == 401:
        assert "WWW-Authenticate" not in headers, headers
    if mistake == "rate_limit_code" and status == 429:
        assert body["error"]["code"] == "rate_limited", body
    if mistake == "error_details" and status == 429:
        assert "details" not in body["error"], body
    if mistake == "vary" and status == 200:
        assert "Vary" not in headers, headers
