/** How long to wait after a 429 without `Retry-After`: the limit resets within a minute. */
const oneMinute = 60_000;

/**
 * Checks a key with the API. Returns one of:
 *
 * - `{ result: "confirmed", organization, environment, scopes, usage }`
 * - `{ result: "rejected" }`: the key is not valid
 * - `{ result: "refused", code }`: the key is valid, but lacks a permission
 * - `{ result: "limited" }`: the limit was still used up after the last attempt
 *
 * Throws on any other response. Tests pass their own `fetch` and `wait`.
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
        // Do not retry: the key stays invalid. The API does not reveal the reason.
        return { result: "rejected" };
      case 403:
        return { result: "refused", code: body.error.code };
      case 429:
        // Check only the status: the specification leaves the code open.
        if (attempt === attempts) return { result: "limited" };
        await wait(timeToWait(response.headers.get("retry-after")));
        break;
      default:
        throw new Error(`The API returned ${response.status}.`);
    }
  }
}

/** Milliseconds from `Retry-After`, which may be absent, a number of seconds, or a date. */
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
