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
    ...{
      url: "https://api.example/v1/relying-party/me",
      probeLimits: true,
      unknownKey: unknownSecret,
      random: () => 0,
    },
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
    ...{
      url: "https://api.example/v1/relying-party/me",
      probeLimits: false,
      unknownKey: unknownSecret,
      random: () => 0,
    },
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

test("R23 a header in two lines is one list", async () => {
  const twoLines = (reply: Reply) => {
    const { status } = reply;
    if (status !== 200) return;
    reply.headers["RateLimit-Policy"] = ['"minute";q=60;w=60', '"day";q=1000;w=86400'];
    reply.headers.RateLimit = ['"minute";r=50;t=60', '"day";r=900;t=3600'];
  };
  expect(await learnWith(twoLines)).toBe("draft");
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
