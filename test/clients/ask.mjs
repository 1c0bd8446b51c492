// How the clients in JavaScript send a request: with a timeout, and again only if two requests have the effect of one.
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

const { env } = process;
export const base = "/v1/relying-party";

export async function withFetch(method, url, headers, body) {
  const signal = AbortSignal.timeout(4000);
  const response = await fetch(url, { method, headers, body, signal });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    text: await response.text(),
  };
}

export async function ask(method, path, options = {}) {
  const { key = "LENDING", body, idempotencyKey, send = withFetch } = options;
  const headers = {
    ...(key && { "x-api-key": env[`SVC_KEY_${key}`] }),
    ...(body && { "content-type": "application/json" }),
    ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
  };
  const isRepeatable = method !== "POST" || idempotencyKey !== undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      const { status, retryAfter, text } = await send(method, env.SVC_BASE_URL + base + path, headers, body);
      if (status < 500) return { status, body: JSON.parse(text) };
      if (!isRepeatable || attempt === 3) throw new Error(`${method} ${path}: ${status}`);
      await wait(pauseOf(retryAfter, attempt));
    } catch (error) {
      if (!isRepeatable || attempt === 3) throw error;
      await wait(500 * attempt);
    }
  }
}

function pauseOf(retryAfter, attempt) {
  if (retryAfter === null) return 500 * attempt;
  return /^\d+$/.test(retryAfter) ? 1000 * Number(retryAfter) : Date.parse(retryAfter) - Date.now();
}

export const consent = JSON.stringify({
  farmer_id: "farmer_0123456789abcdef",
  purpose: { code: "credit_assessment", text: "To assess a seasonal loan." },
  permissions: ["identity", "land"],
});

/** Every client knows the rejections, and sends each rejected key once. */
export async function checkRejections(send) {
  const rejections = { "": 401, MALFORMED: 401, UNKNOWN: 401, STATISTICS: 403 };
  for (const [key, status] of Object.entries(rejections))
    assert.equal((await ask("GET", "/consent-requests/one", { key, send })).status, status);
  assert.equal((await ask("GET", "/me", { send })).status, 200);
}
