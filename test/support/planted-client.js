// A client for tests that is good but for the one mistake that `--mistake` names.
import http from "node:http";

const { SVC_BASE_URL: base, SVC_API_KEY: active, SVC_KEY_REVOKED: revoked } = process.env;
const { SVC_KEY_EXPIRED: expired, SVC_KEY_ROTATED: rotated, SVC_KEY_WRONG_SCOPE: wrongScope } = process.env;
const [, mistake = "none"] = process.argv.slice(2);

/** Each looks at a response in a way in which it should not; throws when that goes wrong. */
const looks = {
  content_type: ({ headers }) => same(headers["content-type"], "application/json"),
  message: ({ json }) => json.error && same(json.error.message, "A valid API key is required."),
};

function same(found, expected) {
  if (found !== expected) {
    throw Object.assign(new Error(`found ${found}, and not ${expected}`), { isFinal: true });
  }
}

function read(status, headers, body) {
  // It gives up where it would have to wait.
  if (status >= 500) {
    throw Object.assign(new Error(`status ${status}`), { isFinal: headers["retry-after"] !== undefined });
  }
  return JSON.parse(body);
}

function send(key) {
  return new Promise((resolve, reject) => {
    const options = { headers: { "x-api-key": key }, signal: AbortSignal.timeout(1_000) };
    const request = http.get(`${base}/v1/relying-party/me`, options, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text) => {
        body += text;
      });
      response.on("error", reject).on("end", () => {
        const { statusCode: status, headers } = response;
        try {
          resolve({ status, headers, json: read(status, headers, body) });
        } catch (error) {
          reject(error);
        }
      });
    });
    request.on("error", (error) =>
      reject(Object.assign(error, { isFinal: error.code === "ECONNRESET" && mistake === "fault.reset" })),
    );
  });
}

/** Sends up to three times after trouble on the way, and returns the status. */
async function ask(key, look = looks[mistake], left = 3) {
  try {
    const response = await send(key);
    look?.(response);
    return response.status;
  } catch (error) {
    if (error.isFinal || left === 1) throw error;
    return ask(key, look, left - 1);
  }
}

if (mistake !== "idle") {
  same(await ask(active), 200);
  same(await ask(revoked), 401);
  // At the same time, so nothing is looked at that depends on the order.
  const others = [expired, rotated, wrongScope].map((key) => ask(key, () => {}));
  same((await Promise.all(others)).join(), "401,401,403");
}
if (mistake === "broken") throw new Error("broken, whatever the sandbox does");
if (mistake === "none") {
  const listed = await fetch(`${process.env.SVC_CONTROL_URL}/requests?key=revoked&faults=false`);
  same((await listed.json()).data.length, 1);
}
