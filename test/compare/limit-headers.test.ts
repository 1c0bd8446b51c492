import { expect, test } from "vitest";
import { compareWithContract } from "../../src/compare/compare.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import { type Presented, probed, probeKeys, type Reply } from "../support/probed-server.js";

type Numbers = readonly [limit: number, remaining: number, reset: number];

/** Compares a service with these limit headers; each request takes 100 ms on both clocks. */
async function learnForm(
  numbers: (second: number, presented: Presented) => Numbers,
  form: "legacy" | "draft",
) {
  let time = 0;
  const { send } = probed((reply, presented) => {
    if (reply.status === 200) setHeaders(reply, numbers(time / 1000, presented), form);
  });
  const { assumptions, notes } = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", probeLimits: true, unknownKey: unknownSecret },
    env: { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE, SVC_KEY_LIVE: probeKeys.SVC_KEY_LIVE },
    now: () => {
      time += 50;
      return time;
    },
  });
  return { value: assumptions.rate_limit_headers?.value, notes: notes.join("\n") };
}

function setHeaders(reply: Reply, [limit, remaining, reset]: Numbers, form: "legacy" | "draft"): void {
  if (form === "legacy") {
    reply.headers["X-RateLimit-Limit"] = String(limit);
    reply.headers["X-RateLimit-Remaining"] = String(remaining);
    reply.headers["X-RateLimit-Reset"] = String(reset);
    return;
  }
  reply.headers["RateLimit-Policy"] = `"day";q=${limit};w=86400`;
  reply.headers.RateLimit = `"day";r=${remaining};t=${reset}`;
}

/** Compares a service with a clock that stands still, and returns the form that its limit headers have. */
async function learnWith(change: (reply: Reply) => void) {
  const { send } = probed(change);
  const { assumptions } = await compareWithContract(send, {
    ...{ url: "https://api.example/v1/relying-party/me", probeLimits: false, unknownKey: unknownSecret },
    ...{ env: { SVC_API_KEY: probeKeys.SVC_KEY_ACTIVE }, now: () => 0 },
  });
  return assumptions.rate_limit_headers?.value;
}

const left = ({ count }: Presented) => 1000 - count;
const forms = ["legacy", "draft"] as const;

test.each<[what: string, numbers: (second: number, presented: Presented) => Numbers]>([
  ["the end of the day", (second, presented) => [1000, left(presented), Math.ceil(54_000 - second)]],
  ["the end of an hour", (second, presented) => [1000, left(presented), Math.ceil(3600 - second)]],
  [
    "a window that ends meanwhile",
    (second, presented) => [1000, left(presented), Math.ceil(second < 3 ? 3 - second : 3603 - second)],
  ],
  ["a clock that stands still", (_second, presented) => [1000, left(presented), 54_000]],
])("R23 seconds to %s next to per_day are learned", async (_what, numbers) => {
  for (const form of forms) {
    const { value, notes } = await learnForm(numbers, form);
    expect([form, value, notes]).toEqual([form, form, expect.not.stringContaining("rate_limit_headers")]);
  }
});

const noSeconds =
  /^rate_limit_headers is not learned, .*: limit headers whose reset does not count the seconds down /m;
const countsUp = /^rate_limit_headers is not learned, .*: limit headers whose remaining requests count up /m;

test.each<[what: string, numbers: (second: number, presented: Presented) => Numbers, note: RegExp]>([
  ["milliseconds", (second, presented) => [1000, left(presented), 80_000 - 1000 * second], noSeconds],
  [
    "seconds since the start",
    (second, presented) => [1000, left(presented), Math.ceil(100 + second)],
    noSeconds,
  ],
  [
    "tenths of a second",
    (second, presented) => [1000, left(presented), Math.ceil(60_000 - 10 * second)],
    noSeconds,
  ],
  ["requests that were sent", (second, { count }) => [1000, count, Math.ceil(54_000 - second)], countsUp],
  [
    "requests that were sent in a window, of which another one begins",
    (second, { count }) => [
      1000,
      count < 40 ? count : count - 39,
      Math.ceil((count < 40 ? 3 : 3603) - second),
    ],
    countsUp,
  ],
])("R23 %s in a limit header are a note, and not learned", async (_what, numbers, note) => {
  for (const form of forms) {
    const { value, notes } = await learnForm(numbers, form);
    expect([form, value, notes]).toEqual([form, undefined, expect.stringMatching(note)]);
  }
});

test("R23 a header in two lines is one list", async () => {
  const twoLines = (reply: Reply) => {
    const { status } = reply;
    if (status !== 200) return;
    reply.headers["RateLimit-Policy"] = ['"minute";q=60;w=60', '"day";q=1000;w=86400'];
    reply.headers.RateLimit = ['"minute";r=50;t=60', '"day";r=900;t=3600'];
  };
  expect(await learnWith(twoLines)).toBe("draft");
});

test("R23 a policy with another window than that of its limit is not learned", async () => {
  const withWindow = (window: number) => (reply: Reply) => {
    if (reply.status !== 200) return;
    reply.headers["RateLimit-Policy"] = `"minute";q=60;w=${window}`;
    reply.headers.RateLimit = '"minute";r=50;t=60';
  };
  expect(await learnWith(withWindow(60))).toBe("draft");
  expect(await learnWith(withWindow(60_000))).toBe(undefined);
});

const legacyOf = (limit: string) => ({
  ...{ "X-RateLimit-Limit": limit, "X-RateLimit-Remaining": "50", "X-RateLimit-Reset": "60" },
});

test.each<[body: string, limits: string, header: string, form: string | undefined]>([
  ["has no limits", "{}", "60", "legacy"],
  ["has a limit that is no number", '{"per_minute":"60","per_day":null}', "60", "legacy"],
  ["has another form of the number", '{"per_minute":60,"per_day":1e3}', "1000", "legacy"],
  ["has other limits", '{"per_minute":60,"per_day":1000}', "70", undefined],
])("R23 limit headers next to a 200 that %s: %s and %s", async (_body, limits, header, form) => {
  const learned = await learnWith((reply) => {
    if (reply.status !== 200) return;
    Object.assign(reply.headers, legacyOf(header));
    reply.bytes = JSON.stringify(reply.body).replace(/"limits":\{[^}]*\}/, `"limits":${limits}`);
  });
  expect(learned).toBe(form);
});
