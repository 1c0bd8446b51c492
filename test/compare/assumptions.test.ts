import fc from "fast-check";
import { expect, test } from "vitest";
import type { Comparison } from "../../src/compare/compare.js";
import { compareWithContract } from "../../src/compare/compare.js";
import { learnedHeading, learnedScenario } from "../../src/compare/report.js";
import { createSandbox, parseScenario, type Sandbox } from "../../src/index.js";
import { keyVariable } from "../../src/rules/keys/key-text.js";
import { unknownSecret } from "../../src/scenario/keys.js";
import {
  allProbeKeys,
  type Misbehave,
  probed,
  probeKeys,
  type Reply,
  setIn,
} from "../support/probed-server.js";
import { runs } from "../support/property-seed.js";
import { mePath } from "../support/send.js";

const now = "2026-03-02T09:00:30Z";
const url = `https://api.example${mePath}`;

async function responseOf(sandbox: Sandbox, apiKey: string | undefined) {
  const headers = { ...(apiKey !== undefined && { "x-api-key": apiKey }) };
  const response = await sandbox.fetch(url, { headers });
  const body = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, version: "1.1", reason: "", headers: [...response.headers], body };
}

function keysOf(sandbox: Sandbox): Record<string, string> {
  return Object.fromEntries(
    sandbox.keys.list().map(({ ref }) => [keyVariable(ref), sandbox.secret(ref as never)]),
  );
}

const compareSandbox = (sandbox: Sandbox, env = keysOf(sandbox)): Promise<Comparison> =>
  compareWithContract((apiKey) => responseOf(sandbox, apiKey), {
    ...{ url, env, probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
  });

const valuesOf = ({ assumptions }: Comparison) =>
  Object.fromEntries(Object.entries(assumptions).map(([name, { value }]) => [name, value]));

const scenarioWith = (assumptions: object) =>
  parseScenario(JSON.stringify({ version: 1, extends: "key-states", assumptions }));

/** Everything that a client gets for each key of the scenario and without one, except ids. */
async function responsesOf(sandbox: Sandbox): Promise<string[]> {
  const keys = [...Object.values(keysOf(sandbox)), undefined, "not-a-key", unknownSecret(7)];
  const responses: string[] = [];
  for (const key of keys) {
    const { status, headers, body } = await responseOf(sandbox, key);
    const shown = headers.map(([name, value]) => (name === "x-request-id" ? name : `${name}: ${value}`));
    responses.push([status, ...shown, new TextDecoder().decode(body)].join("\n"));
  }
  return responses;
}

const learnable = fc.record({
  request_id_on_errors: fc.boolean(),
  www_authenticate: fc.boolean(),
  error_details: fc.boolean(),
  rate_limit_code: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,40}$/).filter((code) => !/svc_/i.test(code)),
  retry_after: fc.constantFrom("none", "seconds", "date"),
  rate_limit_headers: fc.constantFrom("none", "draft", "legacy"),
});

test("a comparison learns the assumptions of a sandbox, and a sandbox with its scenario has the same responses", async () => {
  await fc.assert(
    fc.asyncProperty(learnable, async (assumptions) => {
      const start = () => createSandbox({ scenario: scenarioWith(assumptions), now, frozen: true });
      const comparison = await compareSandbox(start());
      expect(valuesOf(comparison)).toEqual(assumptions);
      expect([comparison.unseen, comparison.differences]).toEqual([{}, []]);
      const text = learnedScenario({ ...comparison, url });
      expect(text.startsWith(`${learnedHeading}\n`)).toBe(true);
      const learned = createSandbox({ scenario: parseScenario(text), now, frozen: true });
      expect(await responsesOf(learned)).toEqual(await responsesOf(start()));
    }),
    runs(100),
  );
});

test("with one test key, a comparison learns only what its 401s and 200s show", async () => {
  await fc.assert(
    fc.asyncProperty(learnable, async (assumptions) => {
      const sandbox = createSandbox({ scenario: scenarioWith(assumptions), now, frozen: true });
      const comparison = await compareWithContract((apiKey) => responseOf(sandbox, apiKey), {
        ...{ url, env: { SVC_API_KEY: sandbox.secret("active") }, probeLimits: false },
        unknownKey: unknownSecret,
        random: () => 0,
      });
      const { www_authenticate, rate_limit_headers } = assumptions;
      const hasHeaders = rate_limit_headers !== "none";
      expect(comparison.assumptions).toEqual({
        www_authenticate: { value: www_authenticate, from: ["each 401"] },
        ...(hasHeaders && {
          rate_limit_headers: { value: rate_limit_headers, from: ["200.test"], notSeen: [429] },
        }),
      });
      const unlearned = ["request_id_on_errors", "error_details", "rate_limit_code", "retry_after"];
      expect(Object.keys(comparison.unseen)).toEqual(
        hasHeaders ? unlearned : [...unlearned, "rate_limit_headers"],
      );
    }),
    runs(50),
  );
});

test("with one test key and --probe-limits, a comparison uses its minute up, and learns all six", async () => {
  const sandbox = createSandbox({ profile: "typical", now, frozen: true });
  const sentences: string[] = [];
  const comparison = await compareWithContract((apiKey) => responseOf(sandbox, apiKey), {
    ...{ url, env: { SVC_API_KEY: sandbox.secret("active") }, probeLimits: true },
    ...{
      unknownKey: unknownSecret,
      random: () => 0,
      announce: (sentence: string) => void sentences.push(sentence),
    },
  });
  expect(sentences).toEqual([
    "Sends up to 121 requests with SVC_API_KEY, until one gets 429. They use up this key's minute.",
  ]);
  expect([comparison.requests > 61, comparison.maxRequests]).toEqual([true, 400]);
  const perDay = "429.per_day";
  expect(comparison.assumptions).toEqual({
    request_id_on_errors: {
      value: true,
      from: ["each 401", "429.per_minute"],
      notSeen: [403, perDay],
    },
    www_authenticate: { value: true, from: ["each 401"] },
    error_details: { value: true, from: ["429.per_minute"], notSeen: [403, perDay] },
    rate_limit_code: { value: "rate_limited", from: ["429.per_minute"], notSeen: [perDay] },
    retry_after: { value: "seconds", from: ["429.per_minute"], notSeen: [perDay] },
    rate_limit_headers: { value: "draft", from: ["200.test", "429.per_minute"], notSeen: [perDay] },
  });
});

test("what a key at its daily limit shows is not learned for the minute", async () => {
  const { assumptions } = await compareWithContract(probed(() => {}).send, {
    ...{ url, probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
    env: { SVC_KEY_RATE_LIMITED: allProbeKeys.SVC_KEY_RATE_LIMITED },
  });
  expect(assumptions.rate_limit_code?.notSeen).toEqual(["429.per_minute"]);
});

test("of a varied sandbox, a comparison learns nothing wrong", async () => {
  for (let seed = 1; seed <= 16; seed++) {
    const sandbox = createSandbox({ profile: "varied", seed, now, frozen: true });
    const { assumptions, notes } = await compareSandbox(sandbox);
    const response = async (ref: "revoked" | "rate-limited") =>
      sandbox.fetch(url, { headers: { "x-api-key": sandbox.secret(ref) } });
    const [unauthorized, limited] = [await response("revoked"), await response("rate-limited")];
    const { error } = await limited.json();
    const wait = limited.headers.get("retry-after");
    const hasHeader = (name: string) => limited.headers.has(name);
    // Other members than the sandbox's own are not learned.
    const hasOtherDetails = error.details !== undefined && !("retry_after_seconds" in error.details);
    const unlearned = notes.flatMap((note) => (note.includes("is not learned") ? note.split(" ")[0] : []));
    expect([seed, unlearned, assumptions]).toMatchObject([
      seed,
      hasOtherDetails ? ["error_details"] : [],
      {
        request_id_on_errors: { value: hasHeader("x-request-id") },
        www_authenticate: { value: unauthorized.headers.has("www-authenticate") },
        ...(!hasOtherDetails && { error_details: { value: "details" in error } }),
        rate_limit_code: { value: error.code },
        retry_after: { value: wait === null ? "none" : /^\d+$/.test(wait) ? "seconds" : "date" },
        rate_limit_headers: {
          value: hasHeader("ratelimit") ? "draft" : hasHeader("x-ratelimit-limit") ? "legacy" : "none",
        },
      },
    ]);
  }
});

/** Expects that a sandbox with the written scenario shows the same again, and does not differ. */
async function expectFixedPoint(comparison: Comparison): Promise<void> {
  const learned = valuesOf(comparison);
  if (Object.keys(learned).length === 0) return;
  const scenario = parseScenario(learnedScenario(comparison));
  const again = await compareSandbox(createSandbox({ scenario, now, frozen: true }));
  expect(again).toMatchObject({ differences: [], verdict: "agrees" });
  expect(valuesOf(again)).toMatchObject(learned);
}

/** Compares a server that is not ours, with all keys and at its limits. */
async function learn(misbehave: Misbehave) {
  const comparison = await compareWithContract(probed(misbehave).send, {
    ...{ url, env: allProbeKeys, probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
  });
  const notes = comparison.notes.filter((note) => /is not learned|me_scope/.test(note));
  await expectFixedPoint(comparison);
  return { ...comparison, notes, values: valuesOf(comparison) };
}

const on =
  (statuses: readonly number[], change: (...given: Parameters<Misbehave>) => void): Misbehave =>
  (reply, presented) => {
    if (statuses.includes(reply.status)) change(reply, presented);
  };
const withHeaders = (statuses: readonly number[], headers: Record<string, string>) =>
  on(statuses, (reply) => void Object.assign(reply.headers, headers));

const legacy = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "5", "x-ratelimit-reset": "60" };

const plain = {
  request_id_on_errors: false,
  www_authenticate: false,
  error_details: false,
  rate_limit_code: "rate_limited",
  retry_after: "none",
  rate_limit_headers: "none",
};

/** The members of the sandbox's details for the code of a response. */
function sandboxDetails({ body }: Reply): object {
  const { code } = (body as { error: { code: string } }).error;
  if (code === "access_denied") return { organization_status: "suspended" };
  if (code === "insufficient_scope") return { required_scope: "attestations:read" };
  if (code === "live_access_not_approved") return { live_access: "pending" };
  return { limit: "per_day", retry_after_seconds: 7 };
}

test.each<[what: string, change: (details: object) => object]>([
  ["another member", (details) => ({ ...details, help: "/" })],
  [
    "numbers as text",
    (details) =>
      Object.fromEntries(
        Object.entries(details).map(([name, value]) => [name, typeof value === "number" ? "7" : value]),
      ),
  ],
  [
    "numbers in place of names",
    (details) => Object.fromEntries(Object.entries(details).map(([name]) => [name, 5])),
  ],
  [
    "a day's milliseconds",
    (details) => ("limit" in details ? { ...details, retry_after_seconds: 30_000_000 } : details),
  ],
])("details with %s are a note, and no lesson", async (_what, change) => {
  const { values, notes } = await learn(
    on([403, 429], (reply) => setIn(reply, "body.error.details", change(sandboxDetails(reply)))),
  );
  expect(values.error_details).toBeUndefined();
  expect(notes.join()).toMatch(/^error_details is not learned/);
});

test.each<[server: string, misbehave: Misbehave, learned: Partial<typeof plain> | object]>([
  ["nothing open", () => {}, {}],
  [
    "headers in other cases",
    (reply) => {
      if (reply.status === 401) reply.headers["WWW-AUTHENTICATE"] = "apikey";
      if (reply.status > 400) reply.headers["x-request-id"] = "7";
      if (reply.status === 429) reply.headers["RETRY-AFTER"] = "7";
    },
    { request_id_on_errors: true, www_authenticate: true, retry_after: "seconds" },
  ],
  ["Retry-After: 0", withHeaders([429], { "Retry-After": "0" }), { retry_after: "seconds" }],
  [
    "a date in Retry-After",
    withHeaders([429], { "Retry-After": "Mon, 02 Mar 2026 09:01:00 GMT" }),
    { retry_after: "date" },
  ],
  [
    "the newer form of IETF",
    withHeaders([200, 429], { RateLimit: '"a";r=5;t=9', "RateLimit-Policy": '"a";q=60;w=60' }),
    { rate_limit_headers: "draft" },
  ],
  [
    "a challenge with parameters",
    withHeaders([401], { "WWW-Authenticate": 'ApiKey realm="a, Basic b", title=x' }),
    { www_authenticate: true },
  ],
  ["X-RateLimit headers with seconds", withHeaders([200, 429], legacy), { rate_limit_headers: "legacy" }],
  [
    "X-RateLimit headers of the day",
    withHeaders([200, 429], { ...legacy, "x-ratelimit-limit": "1000", "x-ratelimit-reset": "86400" }),
    { rate_limit_headers: "legacy" },
  ],
  [
    "the details of the sandbox",
    on([403, 429], (reply) => setIn(reply, "body.error.details", sandboxDetails(reply))),
    { error_details: true },
  ],
  [
    "another code of 429",
    on([429], (reply) => setIn(reply, "body.error.code", "Slow.Down-2")),
    { rate_limit_code: "Slow.Down-2" },
  ],
])("a comparison learns from a server with %s", async (_server, misbehave, learned) => {
  const { values, notes } = await learn(misbehave);
  expect([values, notes]).toEqual([{ ...plain, ...learned }, []]);
});

test.each<[server: string, misbehave: Misbehave, notes: readonly unknown[]]>([
  [
    "ids on some errors only",
    withHeaders([403], { "X-Request-Id": "7" }),
    [
      "request_id_on_errors is not learned, because it is seen in several ways: false (each 401, each 429); true (403.insufficient_scope).",
    ],
  ],
  [
    "a challenge on some 401s only",
    on([401], (reply, { ref }) => {
      if (ref === "none") reply.headers["WWW-Authenticate"] = "ApiKey";
    }),
    [
      "www_authenticate is not learned, because it is seen in several ways: true (401.missing); false (401.malformed, 401.unknown, 401.revoked, 401.expired).",
    ],
  ],
  [
    "a challenge on every second 401",
    on([401], (reply, { number }) => {
      if (number % 2 === 0) reply.headers["WWW-Authenticate"] = "ApiKey";
    }),
    [
      expect.stringMatching(
        /^www_authenticate is not learned, because it is seen in several ways: false \(401\.missing/,
      ),
    ],
  ],
  [
    "details: []",
    on([403, 429], (reply) => setIn(reply, "body.error.details", [])),
    [
      "error_details is not learned, because the assumption does not have this value: an empty list (403.insufficient_scope, each 429).",
    ],
  ],
  ...["Bearer", 'Basic realm="api"', "ApiKey, Bearer", "Key"].map((value): [string, Misbehave, string[]] => [
    `the challenge ${value}`,
    withHeaders([401], { "WWW-Authenticate": value }),
    [
      `www_authenticate is not learned, because the assumption does not have this value: another challenge than one ApiKey, which begins with "${value.split(/[ ,]/)[0]}" (each 401).`,
    ],
  ]),
  [
    "other details",
    on([403, 429], (reply) => setIn(reply, "body.error.details", { a: [1], b: null })),
    [
      "error_details is not learned, because the assumption does not have this value: details with a, b (403.insufficient_scope, each 429).",
    ],
  ],
  [
    "empty details",
    on([429], (reply) => setIn(reply, "body.error.details", {})),
    [
      "error_details is not learned, because it is seen in several ways: false (403.insufficient_scope); details with no members (each 429).",
    ],
  ],
  ...[
    { "x-ratelimit-limit": "60" },
    { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "5" },
    { ...legacy, "x-ratelimit-limit": "60, 60;w=60" },
    { ...legacy, "x-ratelimit-used": "7" },
  ].map((headers): [string, Misbehave, unknown[]] => [
    JSON.stringify(headers),
    withHeaders([200], headers),
    [
      expect.stringMatching(
        /^rate_limit_headers .* another form of x-ratelimit-limit.* \(each 200\); none \(each 429\)\.$/,
      ),
    ],
  ]),
  ...[
    { RateLimit: '"m";r=5;t=1795964580', "RateLimit-Policy": '"m";q=60;w=60' },
    { RateLimit: '"m";r=1;t=30', "RateLimit-Policy": '"m";q=60.5;w=60' },
    { RateLimit: '"m";r=1;t=-3', "RateLimit-Policy": '"m";q=60;w=60' },
    { RateLimit: '"org";r=4999;t=1800', "RateLimit-Policy": '"org";q=5000;w=3600' },
  ].map((headers): [string, Misbehave, unknown[]] => [
    JSON.stringify(headers),
    withHeaders([200, 429], headers),
    [expect.stringMatching(/^rate_limit_headers .* another form of RateLimit, RateLimit-Policy \(/)],
  ]),
  ...[
    { "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4999", "x-ratelimit-reset": "1800" },
    { "x-ratelimit-limit": "1000", "x-ratelimit-remaining": "990", "x-ratelimit-reset": "95123" },
  ].map((headers): [string, Misbehave, unknown[]] => [
    JSON.stringify(headers),
    withHeaders([200, 429], headers),
    [expect.stringMatching(/^rate_limit_headers .* another form of x-ratelimit-limit/)],
  ]),
  ...[
    ["1795964580", "a number, more than"],
    ["90000", "a number, more than"],
  ].map(([value = "", words = ""]): [string, Misbehave, unknown[]] => [
    `Retry-After: ${value}`,
    withHeaders([429], { "Retry-After": value }),
    [
      `retry_after is not learned, because the assumption does not have this value: ${words} 86400 s (429.per_day); ${words} 60 s (429.per_minute).`,
    ],
  ]),
  [
    "a Retry-After of the minute in milliseconds",
    withHeaders([429], { "Retry-After": "30000" }),
    [
      "retry_after is not learned, because it is seen in several ways: seconds (429.per_day); a number, more than 60 s (429.per_minute).",
    ],
  ],
  [
    "the newer form of IETF without its times",
    withHeaders([200, 429], { RateLimit: '"a";r=5', "RateLimit-Policy": '"a";q=60' }),
    [expect.stringMatching(/^rate_limit_headers .* another form of RateLimit, RateLimit-Policy \(/)],
  ],
  [
    "a reset only with a 429",
    on([200, 429], (reply) => {
      Object.assign(reply.headers, legacy);
      if (reply.status === 200) delete reply.headers["x-ratelimit-reset"];
    }),
    [
      expect.stringMatching(
        /^rate_limit_headers .* in several ways: another form of .*; legacy \(each 429\)\.$/,
      ),
    ],
  ],
  [
    "a date in Retry-After with an offset",
    withHeaders([429], { "Retry-After": "Sun, 29 Nov 2026 08:49:37 +0000" }),
    [
      "retry_after is not learned, because the assumption does not have this value: neither whole seconds nor an HTTP date (each 429).",
    ],
  ],
  [
    "two values of one form that the assumption does not have",
    on([429], (reply, { ref }) => {
      reply.headers["Retry-After"] = ref === "rate-limited" ? "63309.4" : "59.9";
    }),
    [
      "retry_after is not learned, because the assumption does not have this value: neither whole seconds nor an HTTP date (each 429).",
    ],
  ],
  [
    "RateLimit without its policy",
    withHeaders([200, 429], { RateLimit: '"a";r=5;t=9' }),
    [
      expect.stringMatching(
        /^rate_limit_headers .* this value: another form of RateLimit \(each 200, each 429\)\.$/,
      ),
    ],
  ],
  [
    "the older form of IETF",
    withHeaders([200, 429], { RateLimit: "limit=60, remaining=5, reset=9", "RateLimit-Policy": "60;w=60" }),
    [expect.stringMatching(/^rate_limit_headers .* another form of RateLimit, RateLimit-Policy \(/)],
  ],
  [
    "the oldest form of IETF",
    withHeaders([200, 429], { "RateLimit-Limit": "60", "RateLimit-Remaining": "5", "RateLimit-Reset": "9" }),
    [expect.stringMatching(/^rate_limit_headers .* another form of RateLimit-Limit, RateLimit-Remaining, /)],
  ],
  [
    "x-ratelimit-reset as a time",
    withHeaders([200, 429], { "x-ratelimit-limit": "60", "x-ratelimit-reset": "1772442060" }),
    [expect.stringMatching(/^rate_limit_headers .* another form of x-ratelimit-limit, x-ratelimit-reset \(/)],
  ],
  [
    "two forms at the same time",
    withHeaders([200, 429], {
      RateLimit: '"a";r=5;t=9',
      "RateLimit-Policy": '"a";q=60',
      "X-RateLimit-Limit": "9",
    }),
    [
      expect.stringMatching(
        /^rate_limit_headers .* another form of RateLimit, RateLimit-Policy, X-RateLimit-Limit/,
      ),
    ],
  ],
  [
    "another Retry-After for each limit",
    on([429], (reply, { ref }) => {
      if (ref === "rate-limited") reply.headers["Retry-After"] = "60";
    }),
    [
      "retry_after is not learned, because it is seen in several ways: seconds (429.per_day); none (429.per_minute).",
    ],
  ],
  [
    "a Retry-After that nobody can read",
    withHeaders([429], { "Retry-After": "soon" }),
    [
      "retry_after is not learned, because the assumption does not have this value: neither whole seconds nor an HTTP date (each 429).",
    ],
  ],
])("a comparison notes what it does not learn from a server with %s", async (_server, misbehave, notes) => {
  const { assumptions, notes: shown } = await learn(misbehave);
  expect(shown).toEqual(notes);
  for (const note of notes) {
    if (typeof note === "string") expect(Object.keys(assumptions)).not.toContain(note.split(" ")[0]);
  }
});

test.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
  "a code of 403 that is the name of something in JavaScript, %s, is only a code",
  async (code) => {
    const { notes, differences } = await learn(
      on([403], (reply) => setIn(reply, "body.error", { code, message: "No.", details: {} })),
    );
    expect(notes).toEqual([expect.stringMatching(/^error_details .* details with no members \(403/)]);
    expect(differences).toContainEqual(expect.objectContaining({ at: "$.error.code" }));
  },
);

test("a gateway's own 429, as HTML, shows its headers, and no code", async () => {
  const { values, unseen, notes } = await learn((reply) => {
    if (reply.status !== 429) return;
    Object.assign(reply, {
      bytes: "<html>Slow down</html>",
      headers: { "Content-Type": "text/html", "Retry-After": "5" },
    });
  });
  expect([values.retry_after, values.request_id_on_errors, unseen]).toEqual([
    "seconds",
    false,
    { error_details: "a 429 (--probe-limits); 403.insufficient_scope shows false" },
  ]);
  expect(notes).toEqual([
    "rate_limit_code is not learned, because the assumption does not have this value: no error.code (each 429).",
  ]);
});

test.each([
  ["letters without end", "a".repeat(10_000), true],
  ["control characters", "slow\u001b[31m\ndown: yes", false],
  ["a key in it", probeKeys.SVC_KEY_ACTIVE as string, false],
  ["a quote", 'slow"down', false],
  ["the look of a number", "429", false],
  ["nothing", "", false],
])(
  "a code of 429 with %s is in the scenario only if the assumption can have it",
  async (_code, code, isLearned) => {
    const { assumptions, seen, values, notes } = await learn(
      on([429], (reply) => setIn(reply, "body.error.code", code)),
    );
    expect(values.rate_limit_code).toBe(isLearned ? code : undefined);
    if (!isLearned) expect(notes).toEqual([expect.stringMatching(/^rate_limit_code is not learned/)]);
    const text = learnedScenario({ assumptions, seen, url, comparedAt: now });
    for (const hostile of ["Secret0123", "\u001b"]) expect(text).not.toContain(hostile);
    expect(parseScenario(text).assumptions).toEqual(values);
  },
);

test("only the host of a URL is in the scenario, with any letters", async () => {
  const { assumptions, seen } = await learn(() => {});
  for (const [base, host] of [
    ["https://api.example:8443/me?key=SVC_test_0123456789", "api.example:8443"],
    ["https://äpi.example/", "xn--pi-uia.example"],
    ["https://a'b\"{c}&!.example/", "a'b\"{c}&!.example"],
    ["http://[::1]:4747/", "[::1]:4747"],
  ] as const) {
    const text = learnedScenario({ assumptions, seen, url: base, comparedAt: now });
    expect(text.split("\n")[1]).toBe(`# What ${host} does, compared at 2026-03-02T09:00:30Z.`);
    expect(parseScenario(text).assumptions).toEqual(plain);
  }
});

test("without a 401, a request id on errors needs one", async () => {
  const { unseen } = await compareWithContract(
    probed((reply) => {
      if (reply.status === 401) reply.status = 403;
      if (reply.status !== 200) reply.headers["X-Request-Id"] = "req-1";
    }).send,
    { url, env: allProbeKeys, probeLimits: true, unknownKey: unknownSecret, random: () => 0 },
  );
  expect(unseen.request_id_on_errors).toMatch(/^a 401; .* shows true$/);
});
