// How the clients of this folder send a key, and check the responses on five promised outcomes.
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

const { SVC_BASE_URL, SVC_CONTROL_URL } = process.env;

/** Sends a request once. */
export async function sendOnce(ref) {
  const headers = { "x-api-key": process.env[`SVC_KEY_${ref}`] };
  const signal = AbortSignal.timeout(3000);
  const response = await fetch(`${SVC_BASE_URL}/v1/relying-party/me`, { headers, signal });
  return { response, body: JSON.parse(await response.text()) };
}

/** Sends a request again after a failure on the way, or a 5xx, once its Retry-After has passed. */
export async function me(ref, tries = 3) {
  let pause = 1000;
  try {
    const { response, body } = await sendOnce(ref);
    if (response.status < 500 || tries === 1) return { response, body };
    pause = pauseOf(response.headers.get("retry-after")) ?? pause;
  } catch (error) {
    if (tries === 1) throw error;
  }
  await wait(pause);
  return me(ref, tries - 1);
}

function pauseOf(after) {
  if (after === null) return undefined;
  return /^\d+$/.test(after) ? 1000 * after : Date.parse(after) - Date.now();
}

export async function checkFive(send = me) {
  const statuses = { ACTIVE: 200, LIVE: 200, REVOKED: 401, EXPIRED: 401, WRONG_SCOPE: 403 };
  for (const [ref, status] of Object.entries(statuses)) {
    assert.equal((await send(ref)).response.status, status);
  }
}

export async function control(method, path, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(SVC_CONTROL_URL + path, { method, headers, body: JSON.stringify(body) });
  assert.ok(response.ok, await response.text());
}
