// A good client over one of the usual libraries of Node: `client.mjs <library> <mistake>`. The mistake is `none`, or a row of
// the variation table that the client expects to be as in `minimal`.

import { pathToFileURL } from "node:url";

const [library, mistake] = process.argv.slice(2);
const { traits } = await import(pathToFileURL(process.env.TRAITS).href);
const { SVC_BASE_URL, SVC_API_KEY, SVC_KEY_REVOKED, SVC_KEY_RATE_LIMITED } = process.env;
const { SVC_KEY_EXPIRED, SVC_KEY_ORGANIZATION_INACTIVE } = process.env;
const url = `${SVC_BASE_URL}/v1/relying-party/me`;
const statuses = [500, 502, 503, 504];

/** For each library a function that returns status, headers and text, with the retries of the library. */
const libraries = {
  async fetch() {
    return (headers) => fetch(url, { headers, signal: AbortSignal.timeout(2_500) }).then(fromFetch);
  },
  async got() {
    const { got } = await import("got");
    const retry = { limit: 3, statusCodes: statuses, backoffLimit: 100 };
    return async (headers) => {
      const answer = await got(url, { headers, retry, throwHttpErrors: false, timeout: { request: 2_500 } });
      return { status: answer.statusCode, headers: Object.entries(answer.headers), text: answer.body };
    };
  },
  async ky() {
    const { default: ky } = await import("ky");
    const retry = { limit: 3, statusCodes: statuses, backoffLimit: 100 };
    return (headers) => ky(url, { headers, retry, throwHttpErrors: false, timeout: 2_500 }).then(fromFetch);
  },
  async "axios-retry"() {
    const { default: axios } = await import("axios");
    const { default: axiosRetry } = await import("axios-retry");
    const validateStatus = (status) => !statuses.includes(status);
    const client = axios.create({ timeout: 2_500, responseType: "text", validateStatus });
    axiosRetry(client, { retries: 3, shouldResetTimeout: true });
    return async (headers) => {
      const { status, headers: names, data } = await client.get(url, { headers });
      return { status, headers: Object.entries(names), text: data };
    };
  },
  async "undici-retry"() {
    const { Agent, RetryAgent, fetch: send } = await import("undici");
    const dispatcher = new RetryAgent(new Agent(), {
      statusCodes: statuses,
      minTimeout: 50,
      maxTimeout: 100,
    });
    return (headers) =>
      send(url, { headers, dispatcher, signal: AbortSignal.timeout(2_500) }).then(fromFetch);
  },
  async "node-http"() {
    const { get } = await import("node:http");
    return (headers) =>
      new Promise((resolve, reject) => {
        get(url, { headers, signal: AbortSignal.timeout(2_500) }, async (answer) => {
          let text = "";
          try {
            for await (const chunk of answer.setEncoding("utf8")) text += chunk;
            resolve({ status: answer.statusCode, headers: Object.entries(answer.headers), text });
          } catch (error) {
            reject(error);
          }
        }).on("error", reject);
      });
  },
};

async function fromFetch(answer) {
  return { status: answer.status, headers: [...answer.headers], text: await answer.text() };
}

const send = await libraries[library]();

async function ask(key, left = 3) {
  try {
    const answer = await send({ "x-api-key": key });
    if (statuses.includes(answer.status)) throw new Error(`got ${answer.status}`);
    JSON.parse(answer.text);
    return answer;
  } catch (error) {
    if (left === 1) throw error;
    return ask(key, left - 1);
  }
}

/** The forms of `minimal`. */
const usual = ["absent", "none", "bare", "compact", "prefixed", "as_documented", "a_sentence"];

for (const [key, status] of [
  [SVC_API_KEY, 200],
  [SVC_KEY_REVOKED, 401],
  [SVC_KEY_EXPIRED, 401],
  [SVC_KEY_ORGANIZATION_INACTIVE, 403],
  [SVC_KEY_RATE_LIMITED, 429],
]) {
  const answer = await ask(key);
  if (answer.status !== status) throw new Error(`got ${answer.status} instead of ${status}`);
  const [on, formOf] = traits[mistake] ?? [];
  if (on === status && !usual.includes(formOf(answer))) throw new Error(`did not expect ${formOf(answer)}`);
}
