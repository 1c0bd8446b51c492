/** How long to wait after a 429 that does not say: a minute, after which the minute's limit is a new one. */
const oneMinute = 60_000;

/**
 * Asks the API whose key this is.
 *
 * Answers `{ result: "confirmed", organization, environment, scopes, usage }`; `{ result: "rejected" }` for a key that
 * does not work (any more); `{ result: "refused", code }` for one that may not do this; `{ result: "limited" }` when
 * the limit was still used up after the last attempt. Throws when there is no answer of the API at all.
 *
 * `fetch` and `wait` are there for tests.
 */
async function confirmKey({ baseUrl, apiKey, fetch = globalThis.fetch, wait = sleep, attempts = 3 }) {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${baseUrl}/v1/relying-party/me`, { headers: { "x-api-key": apiKey } });
    const body = await response.json();
    switch (response.status) {
      case 200: {
        const { organization, environment, scopes, usage } = body.data;
        return { result: "confirmed", organization, environment, scopes, usage };
      }
      case 401:
        // It will be rejected for ever: whoever retries only makes noise. The API does not say what is wrong with it.
        return { result: "rejected" };
      case 403:
        return { result: "refused", code: body.error.code };
      case 429:
        // By the status alone: the specification leaves the code open.
        if (attempt === attempts) return { result: "limited" };
        await wait(timeToWait(response.headers.get("retry-after")));
        break;
      default:
        throw new Error(`The API answered ${response.status}.`);
    }
  }
}

/** Milliseconds, from a header that may be absent, hold seconds, or hold a date. */
function timeToWait(retryAfter) {
  if (retryAfter === null) return oneMinute;
  const seconds = Number(retryAfter);
  const milliseconds = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(milliseconds) ? oneMinute : Math.max(0, milliseconds);
}

function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

module.exports = { confirmKey };
