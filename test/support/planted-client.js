// A client for tests that is good but for the one mistake that `--mistake` names. It asks with a few keys, waits for no
// response longer than it has to, and sends a request again after trouble on the way.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const { SVC_BASE_URL: base, SVC_API_KEY: active, SVC_KEY_REVOKED: revoked } = process.env;
const { SVC_KEY_EXPIRED: expired, SVC_KEY_ROTATED: rotated, SVC_KEY_WRONG_SCOPE: wrongScope } = process.env;
const [, mistake = "none"] = process.argv.slice(2);

/** Each looks at a response in a way in which it should not; throws when that goes wrong. */
const looks = {
  content_type: ({ headers }) => same(headers["content-type"], "application/json"),
  header_casing: ({ rawHeaders }) => same(rawHeaders.includes("Content-Type"), true),
  member_order: ({ json }) => json.data && same(Object.keys(json.data)[0], "organization"),
  request_id_form: ({ json, headers }) => json.data && same(headers["x-request-id"].length <= 32, true),
  message: ({ json }) => json.error && same(json.error.message, "A valid API key is required."),
};

/** What it does not do that it should. */
const patiences = { "fault.hang": 0, "fault.latency": 1_500, "no-retry": 4_000 };
const { [mistake]: patience = 1_000 } = patiences;
const attempts = mistake === "no-retry" ? 1 : 3;

function same(found, expected) {
  if (found !== expected)
    throw Object.assign(new Error(`found ${found}, and not ${expected}`), { isFinal: true });
}

/** An error after which it sends the request again, unless to give up then is its mistake: `--mistake fault.reset`. */
function trouble(kind, error = new Error(kind)) {
  return Object.assign(error, { isFinal: kind === mistake });
}

function read(status, headers, body) {
  if (status >= 500) {
    const failure = trouble("fault.status");
    // It gives up where it would have to wait.
    failure.isFinal ||= headers["retry-after"] !== undefined;
    throw failure;
  }
  try {
    return JSON.parse(body);
  } catch (error) {
    throw trouble("fault.malformed", error);
  }
}

function send(key) {
  return new Promise((resolve, reject) => {
    const timeout = new AbortController();
    const timer = patience > 0 && setTimeout(() => timeout.abort(), patience);
    const { signal } = timeout;
    const started = performance.now();
    const request = http.get(
      `${base}/v1/relying-party/me`,
      { headers: { "x-api-key": key }, signal },
      (response) => {
        const responded = performance.now();
        let body = "";
        response.setEncoding("utf8").on("data", (text) => {
          body += text;
        });
        const cut = (error) => reject(error.code === "ECONNRESET" ? trouble("fault.truncate", error) : error);
        const finish = () => {
          const { statusCode: status, headers, rawHeaders } = response;
          try {
            if (mistake === "fault.latency") same(responded - started < 950, true);
            clearTimeout(timer);
            resolve({ status, headers, rawHeaders, json: read(status, headers, body) });
          } catch (error) {
            reject(response.complete ? error : trouble("fault.slow", error));
          }
        };
        response.on("error", cut).on("end", finish);
        // This mistake: it reads only the parts that come soon.
        if (mistake === "fault.slow") setTimeout(() => response.complete || finish(), 300);
      },
    );
    request.on("error", (error) =>
      reject(error.code === "ECONNRESET" ? trouble("fault.reset", error) : error),
    );
  });
}

async function ask(key, left = attempts, look = looks[mistake]) {
  try {
    const response = await send(key);
    look?.(response);
    return response.status;
  } catch (error) {
    if (error.isFinal || left === 1) throw error;
    return ask(key, left - 1, look);
  }
}

if (mistake === "loud") process.stdout.write("noise\n".repeat(1_000_000));
if (mistake === "waits") await pause(600_000);
// Its second run fails, whatever the sandbox does.
if (mistake === "flaky") {
  const runs = existsSync("runs") ? readFileSync("runs", "utf8").length : 0;
  appendFileSync("runs", "x");
  same(runs === 1, false);
}
if (mistake !== "idle") {
  same(await ask(active), 200);
  same(await ask(revoked), 401);
  // At the same time, so nothing is looked at that depends on the order.
  const others = [expired, rotated, wrongScope].map((key) => ask(key, attempts, () => {}));
  same((await Promise.all(others)).join(), "401,401,403");
}
if (mistake === "broken") throw new Error("broken, whatever the sandbox does");
if (mistake === "none") {
  const listed = await fetch(`${process.env.SVC_CONTROL_URL}/requests?key=revoked&faults=false`);
  same((await listed.json()).data.length, 1);
}
