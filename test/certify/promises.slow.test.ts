import { expect, test } from "vitest";
import { conditionedRun } from "../../src/api/conditioned-run.js";
import { promisesOn } from "../../src/api/promises.js";
import type { PromiseRun } from "../../src/certify/result.js";
import { promisedCount } from "../support/coverage.js";
import { startFrozen } from "../support/doors.js";
import { runCli } from "../support/run-cli.js";
import { ask } from "../support/varied.js";

/** The command line of a client that can use `call(ref)`. */
function clientOf(script: string): string[] {
  const call = `const key = (ref) => process.env["SVC_KEY_" + ref];
    const call = (ref, end = "", more = {}) => fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me" + end,
      { headers: ref ? { "x-api-key": key(ref) } : {}, ...more });`;
  return [process.execPath, "--input-type=module", "-e", call + script];
}

/** Certifies such a client; what the certificate says. */
async function certify(script: string, ...flags: string[]) {
  const { code, stdout } = await runCli([
    "certify",
    "--json",
    "--seeds",
    "0",
    ...flags,
    "--",
    ...clientOf(script),
  ]);
  const { verdict, promises, unmet } = JSON.parse(stdout);
  const missed = promises.runs.filter((one: PromiseRun) => one.outcome === "not_noticed");
  return { code, verdict, ...promises, unmet, missed: missed.map(({ id }: PromiseRun) => id) };
}

test("a client that sends keys and checks no response notices nothing, and fails", async () => {
  const { code, verdict, tried, noticed, unmet } = await certify(
    `for (const ref of ["", "ACTIVE", "REVOKED", "WRONG_SCOPE", "RATE_LIMITED"]) await call(ref);`,
  );
  expect([code, verdict, noticed, tried]).toEqual([5, "failed", 0, 5]);
  expect(unmet).toEqual([
    { gate: "swaps", threshold: "--promises swaps", sentence: expect.stringContaining("5 swaps") },
  ]);
});

const fourKeys = `for (const ref of ["ACTIVE", "REVOKED", "WRONG_SCOPE"])`;

test.each([
  [
    "covers four paths",
    `await call(); ${fourKeys} await call(ref);`,
    new RegExp(`covers 4 of ${promisedCount}`),
  ],
  ["sends no key", "await call();", /the client sends no key in x-api-key/],
  ["posts", `${fourKeys} await call(ref, "", { method: "POST" });`, /The API does not have this path, or/],
  ["ends it with a slash", `${fourKeys} await call(ref, "/");`, /Call exactly GET \/v1\/relying-party\/m/],
  [
    "quotes the key",
    `${fourKeys} await call("", "", { headers: { "x-api-key": JSON.stringify(key(ref)) } });`,
    /no quotation marks/,
  ],
  [
    "sends a Bearer token",
    `${fourKeys} await call("", "", { headers: { authorization: "Bearer " + key(ref) } });`,
    /no Bearer/,
  ],
])("a client that %s cannot be certified, and is shown why", async (what, script, why) => {
  const { code, stdout } = await runCli(["certify", "--seeds", "0", "--", ...clientOf(script)]);
  // No request of these two reaches an endpoint.
  const isElsewhere = what === "posts" || what === "ends it with a slash";
  expect([code, stdout]).toEqual([isElsewhere ? 4 : 1, expect.stringMatching(why)]);
  expect(stdout).toMatch(/\nNot certified: .*Send \d or more of these keys, .*KEY_EXPIRED \(401\.expired\)/);
  expect(stdout.includes("sends no key")).toBe(what === "sends no key");
  expect(stdout).not.toContain("Promises");
});

interface Tools {
  /** Sends the key of a ref, as it stands in a variable. */
  readonly call: (ref: string) => Promise<{ readonly status: number; readonly json: () => unknown }>;
  readonly advance: (by: string) => unknown;
}

/** Checks everything that is promised on seven paths, except what is skipped; runs in a client's process as well. */
async function careful({ call, advance }: Tools, skipped: readonly string[]): Promise<void> {
  const check = (name: string, holds: unknown) => {
    if (!holds && !skipped.includes(name)) throw new Error(name);
  };
  // biome-ignore lint/suspicious/noExplicitAny: any body may come
  const read = async (ref: string, status: number): Promise<any> => {
    const response = await call(ref);
    check(`status ${status}`, response.status === status);
    return response.json();
  };
  const today: number[] = [];
  for (const [ref, environment] of [
    ["ACTIVE", "test"],
    ["LIVE", "live"],
    ["ACTIVE", "test"],
  ] as const) {
    const { data } = await read(ref, 200);
    check("environment", data.environment === environment);
    check("organization", ["bank", "insurer"].includes(data.organization?.type));
    check("scopes", Array.isArray(data.scopes) && data.scopes.length > 0);
    check("limits", data.limits?.per_minute > 0 && data.limits?.per_day > 0);
    today.push(data.usage?.today);
  }
  check("usage", today.join() === "1,1,2");
  for (const ref of ["REVOKED", ""]) await read(ref, 401);
  for (const [ref, code] of [
    ["WRONG_SCOPE", "insufficient_scope"],
    ["LIVE_SUSPENDED", "live_access_not_approved"],
  ] as const) {
    const { error } = await read(ref, 403);
    check("code", error?.code === code);
  }
  await read("RATE_LIMITED_MINUTE", 429);
  await advance("61s");
  check("recovery", (await call("RATE_LIMITED_MINUTE")).status === 200);
}

const carefulPaths = [
  ...(["200.test", "200.live", "401.missing", "401.revoked"] as const),
  ...(["403.live_suspended", "403.insufficient_scope", "429.per_minute"] as const),
];

test("a careful client notices every promise, and is certified", async () => {
  const advance = `(by) => fetch(process.env.SVC_CONTROL_URL + "/clock/advance",
    { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ by }) })`;
  const script = `await (${careful})({ call, advance: ${advance} }, []);`;
  const found = await certify(script, "--promises", "all", "--min-noticed", "100");
  const expected = promisesOn(carefulPaths, "all").length;
  expect(found).toMatchObject({ code: 0, verdict: "passed", missed: [], noticed: expected, tried: expected });
});

/** The broken promises that a careful client with these skips does not notice. */
async function missedBy(...skipped: string[]): Promise<string[]> {
  const missed: string[] = [];
  for (const promise of promisesOn(carefulPaths, "all")) {
    const sandbox = startFrozen("key-states", {
      now: Date.UTC(2026, 2, 2),
      run: conditionedRun({ promise: promise.id }),
    });
    const tools = {
      async call(ref: string) {
        const { status, body } = ask(
          sandbox,
          ref === "" ? {} : { key: ref.toLowerCase().replaceAll("_", "-") },
        );
        return { status, json: () => JSON.parse(body) };
      },
      advance: () => sandbox.clock.advance(61_000),
    };
    await careful(tools, skipped).then(
      () => missed.push(promise.id),
      () => {},
    );
  }
  return missed;
}

const shared = (member: string, ...ways: string[]) => ways.map((way) => `200.test:${member}-${way}`);

test.each([
  ["scopes", shared("scopes", "missing", "null", "wrong-type", "empty")],
  ["limits", shared("limits", "missing", "null", "wrong-type")],
  ["organization", shared("organization", "missing", "null", "wrong-type", "type-unknown")],
  ["usage", shared("usage", "missing", "null", "wrong-type", "not-counting")],
  ["environment", ["200.test:environment-swapped", "200.live:environment-swapped"]],
  ["code", ["403.live_suspended:another-code", "403.insufficient_scope:another-code"]],
  ["recovery", ["429.per_minute:never-ends"]],
])("a client that skips the check of %s misses these promises and no other", async (check, expected) => {
  expect(await missedBy()).toEqual([]);
  expect(await missedBy(check)).toEqual(expected);
});
