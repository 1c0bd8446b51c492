// A good client over one of the usual libraries of Node: `client.mjs <library> <mistake>`. The mistake is `none`, a row of the
// variation table that the client expects to be as in `minimal`, or one of:
// - retry-401, retry-403, retry-429, retry-all: sends a rejected key three more times
// - as-it-comes: the library retries as it does without options
// - hollow: ignores each response
// - no-timeout
// - forever: sends again until an outage ends
// - limits: expects limits of 60 and 1,000
// - first-part: reads only the first part of a body
// And no mistakes: burst sends each key four times at once, tests is a suite with three tests of the revoked key, cache stores accepted
// responses, waits sends again after the time in a 429, all sends a key for each path.
// PAUSE is the time before each check in milliseconds. With AT_ONCE, all checks run in parallel.

import test, { describe } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [library, mistake] = process.argv.slice(2);
const { traits } = await import(pathToFileURL(process.env.TRAITS).href);
const { SVC_BASE_URL, SVC_API_KEY, SVC_KEY_REVOKED, SVC_KEY_RATE_LIMITED } = process.env;
const { SVC_KEY_EXPIRED, SVC_KEY_ORGANIZATION_INACTIVE } = process.env;
const url = `${SVC_BASE_URL}/v1/relying-party/me`;
const statuses = [500, 502, 503, 504];
const isAsItComes = mistake === "as-it-comes";
const limit = () => (mistake === "no-timeout" ? undefined : AbortSignal.timeout(2_500));

/** For each library a function that returns status, headers and text, with the retries of the library. */
const libraries = {
  async fetch() {
    return (headers) => fetch(url, { headers, signal: limit() }).then(fromFetch);
  },
  async got() {
    const { got } = await import("got");
    const retry = isAsItComes ? {} : { limit: 2, statusCodes: statuses, backoffLimit: 100 };
    return async (headers) => {
      const answer = await got(url, { headers, retry, throwHttpErrors: false, timeout: { request: 2_500 } });
      return { status: answer.statusCode, headers: Object.entries(answer.headers), text: answer.body };
    };
  },
  async ky() {
    const { default: ky } = await import("ky");
    // As it comes, it waits for hours if Retry-After says so.
    const retry = isAsItComes
      ? { maxRetryAfter: 1_000 }
      : { limit: 2, statusCodes: statuses, backoffLimit: 100 };
    const options = { retry, throwHttpErrors: isAsItComes, timeout: 2_500 };
    return (headers) =>
      ky(url, { headers, ...options })
        .catch(responseOf)
        .then(fromFetch);
  },
  async axios() {
    const { default: axios } = await import("axios");
    const client = axios.create({ timeout: 2_500, responseType: "text", validateStatus: () => true });
    return (headers) => client.get(url, { headers }).then(fromAxios);
  },
  async "axios-retry"() {
    const { default: axios } = await import("axios");
    const { default: axiosRetry } = await import("axios-retry");
    const validateStatus = (status) => !statuses.includes(status);
    const options = { timeout: 2_500, responseType: "text" };
    const client = axios.create(isAsItComes ? options : { ...options, validateStatus });
    axiosRetry(client, isAsItComes ? {} : { retries: 2, shouldResetTimeout: true });
    return (headers) => client.get(url, { headers }).catch(responseOf).then(fromAxios);
  },
  async "undici-retry"() {
    const { Agent, RetryAgent, fetch: send } = await import("undici");
    // As it comes, it sends for more than a quarter of a minute, and waits half a minute if told to.
    const waits = { minTimeout: 50, maxTimeout: 100, maxRetries: 2 };
    const dispatcher = new RetryAgent(new Agent(), isAsItComes ? waits : { ...waits, statusCodes: statuses });
    const failed = ({ cause }) => {
      if (cause?.statusCode === undefined) throw cause;
      return { status: cause.statusCode, headers: [], text: "{}" };
    };
    return (headers) =>
      send(url, { headers, dispatcher, signal: AbortSignal.timeout(2_500) })
        .then(fromFetch)
        .catch(failed);
  },
  async "node-http"() {
    const { get } = await import("node:http");
    return (headers) =>
      new Promise((resolve, reject) => {
        get(url, { headers, signal: AbortSignal.timeout(2_500) }, async (answer) => {
          let text = "";
          try {
            for await (const chunk of answer.setEncoding("utf8")) {
              text += chunk;
              if (mistake === "first-part") break;
            }
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

function fromAxios({ status, headers, data }) {
  return { status, headers: Object.entries(headers), text: data };
}

/** The response of an error that a library made of it. */
function responseOf(error) {
  if (error.response === undefined) throw error;
  return error.response;
}

const sendOnce = await libraries[library]();

async function send(headers, left = 3) {
  const answer = await sendOnce(headers);
  const isRetried = mistake === `retry-${answer.status}` || (mistake === "retry-all" && answer.status >= 400);
  return isRetried && left > 0 ? send(headers, left - 1) : answer;
}

const stored = new Map();

// Together with the library's own, at most six.
const tries = ["got", "ky", "axios-retry", "undici-retry"].includes(library) ? 2 : 3;

async function ask(key, left = tries) {
  if (mistake === "cache" && stored.has(key)) return stored.get(key);
  try {
    const headers = key === undefined ? {} : { "x-api-key": key };
    const answer = (
      await Promise.all(Array.from({ length: mistake === "burst" ? 4 : 1 }, () => send(headers)))
    )[0];
    const seconds = Number(Object.fromEntries(answer.headers)["retry-after"]);
    if (mistake === "waits" && answer.status === 429 && seconds > 0 && seconds < 5 && left > 1) {
      await setTimeout(seconds * 1000);
      return ask(key, left - 1);
    }
    if (statuses.includes(answer.status)) throw new Error(`got ${answer.status}`);
    JSON.parse(answer.text);
    if (answer.status === 200) stored.set(key, answer);
    return answer;
  } catch (error) {
    if (mistake === "forever") return ask(key, left);
    if (mistake === "first-part" && error instanceof SyntaxError) throw error;
    if (left === 1) throw error;
    return ask(key, left - 1);
  }
}

/** The forms of `minimal`. */
const usual = ["absent", "none", "bare", "compact", "prefixed", "as_documented", "a_sentence"];

const { env } = process;
const expected = [
  [SVC_API_KEY, 200],
  [SVC_KEY_REVOKED, 401],
  [SVC_KEY_EXPIRED, 401],
  [SVC_KEY_ORGANIZATION_INACTIVE, 403],
  [SVC_KEY_RATE_LIMITED, 429],
  ...(mistake === "cache" ? Array(3).fill([SVC_API_KEY, 200]) : []),
  ...(mistake === "all"
    ? [
        ...["LEGACY", "RETIRING", "REPLACEMENT", "LIVE"].map((ref) => [env[`SVC_KEY_${ref}`], 200]),
        ...["ROTATED", "MALFORMED", "UNKNOWN"].map((ref) => [env[`SVC_KEY_${ref}`], 401]),
        [undefined, 401],
        ...["WRONG_SCOPE", "LIVE_SUSPENDED", "LIVE_NOT_APPROVED"].map((ref) => [env[`SVC_KEY_${ref}`], 403]),
        [env.SVC_KEY_RATE_LIMITED_MINUTE, 429],
      ]
    : []),
];

async function check(key, status) {
  if (env.PAUSE) await setTimeout(Number(env.PAUSE));
  const answer = await ask(key);
  if (answer.status !== status) throw new Error(`got ${answer.status} instead of ${status}`);
  if (mistake === "limits" && status === 200) {
    const { per_minute: minute, per_day: day } = JSON.parse(answer.text).data.limits;
    if (minute !== 60 || day !== 1000) throw new Error(`got ${minute} and ${day}`);
  }
  const [on, formOf] = traits[mistake] ?? [];
  if (on === status && !usual.includes(formOf(answer))) throw new Error(`did not expect ${formOf(answer)}`);
}

const concurrency = env.AT_ONCE ? 8 : 1;
const checks = expected.map(([key, status]) => [`a response with ${status}`, () => check(key, status)]);
if (mistake === "tests") {
  for (const word of ["is rejected", "stays rejected", "shows an error"])
    checks.push([`a revoked key ${word}`, () => check(SVC_KEY_REVOKED, 401)]);
  describe("suite", { concurrency }, () => checks.forEach(([name, run]) => void test(name, run)));
} else if (mistake === "hollow") {
  for (const [key] of expected) await sendOnce({ "x-api-key": key }).catch(() => {});
} else if (env.AT_ONCE) await Promise.all(checks.map(([, run]) => run()));
else for (const [, run] of checks) await run();
