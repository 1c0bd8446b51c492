import { expect, test } from "vitest";
import { me } from "../../src/api/endpoints.js";
import { startCall } from "../../src/api/handle.js";
import { renderRejection, renderSuccess } from "../../src/api/respond.js";
import type { VariationRow } from "../../src/api/variation/row.js";
import { variationTable } from "../../src/api/variation/table.js";
import { chooseVariation, rewriteResponse } from "../../src/api/variation/vary.js";
import { headerOf } from "../../src/compare/response.js";
import type { Profile } from "../../src/rules/assumptions.js";
import { type ApiOutcomeId, type Outcome, outcomeRow, outcomes } from "../../src/rules/outcomes.js";
import { conditionedRun } from "../../src/runs/conditioned-run.js";
import type { ApiResponse } from "../../src/sandbox/call.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { secretToSend } from "../../src/sandbox/secrets.js";
import { type RowChoice, variantOn } from "../../src/sandbox/variants.js";
import type { Scenario } from "../../src/scenario/scenario.generated.js";
import { startFrozen } from "../support/doors.js";
import { expectDescribed } from "../support/expect-described.js";
import { isNightly } from "../support/property-seed.js";
import { asked } from "../support/send.js";
import { ask, type Completed, everyQuestion, rejectedKeys } from "../support/varied.js";

const varied = (seed: number) => startFrozen("key-states", { profile: "varied", seed });

/** Checks a varied response against those that `minimal` and `typical` give to the same request. */
function expectPromised(response: Completed, minimal: Completed, typical: Completed, askedAt: number): void {
  expect([response.status, response.outcome]).toEqual([minimal.status, minimal.outcome]);
  expectHeaders(response);
  if (response.status === 429) expectRetryAfter(response, typical, askedAt);
  if (minimal.body === "") expect(response.body).toBe("");
  else expectBody(response, minimal);
}

function expectBody(response: Completed, minimal: Completed): void {
  expectDescribed(response);
  const bytes = new TextEncoder().encode(response.body).length;
  expect(headerOf(response, "content-length") ?? String(bytes)).toBe(String(bytes));
  const found = JSON.parse(response.body);
  const promised = JSON.parse(minimal.body);
  // R1, R27: nothing else at the top level.
  expect(Object.keys(found)).toEqual(Object.keys(promised));
  if (response.status === 200) expectContext(found.data, promised.data);
  else if (response.status !== 429) expect(found.error.code).toBe(promised.error.code);
  else expect(found.error.code).toMatch(/./);
}

function expectContext(found: typeof context, promised: typeof context): void {
  const any = expect.anything();
  expect(found).toMatchObject({ ...promised, organization: any, scopes: any, limits: any });
  // Only higher, so that no request is rejected.
  expect(found.limits.per_minute).toBeGreaterThanOrEqual(promised.limits.per_minute);
  expect(found.limits.per_day).toBeGreaterThanOrEqual(promised.limits.per_day);
  // R2: exactly these three.
  const { name, ...organization } = found.organization;
  const { name: given, ...rest } = promised.organization;
  expect(organization).toEqual(rest);
  expect(name.startsWith(given)).toBe(true);
  expect(found.scopes).toEqual(expect.arrayContaining(promised.scopes));
}
const limits = { per_minute: 0, per_day: 0 };
const context = { organization: { id: "", name: "", type: "" }, scopes: [""], limits };

function expectHeaders(response: Completed): void {
  const names = response.headers.map(([name]) => name.toLowerCase()).filter((name) => name !== "vary");
  expect(new Set(names).size).toBe(names.length);
  // One comparison: an assertion for each header takes as long as the responses.
  const wrong = response.headers.filter(([name, value]) => {
    const form = headerForms[name.toLowerCase()] ?? /^/;
    return !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || !/^[\x20-\x7e]*$/.test(value) || !form.test(value);
  });
  expect([names.includes("content-type"), wrong]).toEqual([true, []]);
  if (response.status === 405) {
    expect(headerOf(response, "allow")?.split(/, */).sort()).toEqual(["GET", "HEAD"]);
  }
}
const limitForm = /^"minute"(?:;\w=\d+)+, *"day"(?:;\w=\d+)+$/;
const headerForms: Readonly<Record<string, RegExp>> = {
  "content-type": /^application\/json( ?; ?charset="?utf-8"?)?$/i,
  "www-authenticate": /^ApiKey/,
  ratelimit: limitForm,
  "ratelimit-policy": limitForm,
};

function expectRetryAfter(response: Completed, typical: Completed, askedAt: number): void {
  const value = headerOf(response, "retry-after");
  if (value === undefined) return;
  const seconds = Number(headerOf(typical, "retry-after"));
  expect(seconds).toBeGreaterThanOrEqual(1);
  if (/^\d+$/.test(value)) expect(Number(value)).toBeGreaterThanOrEqual(seconds);
  else expect(Date.parse(value)).toBeGreaterThanOrEqual(askedAt + seconds * 1000);
}

/** The responses of `varied`, `minimal` and `typical` to one request. */
interface Compared {
  readonly sandbox: SandboxState;
  readonly responses: readonly [varied: Completed, minimal: Completed, typical: Completed];
  readonly askedAt: number;
}

/** Asks three sandboxes the same, again and again, until as many responses as wanted were compared. */
function* compared(wanted: number): Generator<Compared> {
  const profiles = ["varied", "minimal", "typical"] as const;
  let count = 0;
  for (let seed = 1; ; seed++) {
    const sandboxes = profiles.map((profile) => startFrozen("key-states", { profile, seed }));
    const [sandbox] = sandboxes as [SandboxState];
    // During the overlap of the key that is being replaced, and after it.
    for (let round = 0; round < 2; round++) {
      for (const question of everyQuestion(sandbox)) {
        const askedAt = sandbox.clock.now();
        const responses = sandboxes.map((one) => ask(one, question)) as unknown as Compared["responses"];
        yield { sandbox, responses, askedAt };
        count += 1;
        if (count === wanted) return;
      }
      for (const { clock } of sandboxes) clock.advance(1_900_000);
    }
  }
}

/** The variants that a response shows, as `row: variant`. */
function variantsIn({ seed }: SandboxState, status: number): string[] {
  return variationTable
    .filter(({ statuses }) => statuses.includes(status))
    .map((row) => `${row.id}: ${variantOn(status, row, { seed }).id}`);
}

test("R1–R7 R27 R28 R48 varied responses of every outcome keep every promise, and all variants appear", () => {
  const seen = new Set<string>();
  const covered = new Set<string>();
  for (const { sandbox, responses, askedAt } of compared(isNightly ? 20_000 : 1_000)) {
    expectPromised(...responses, askedAt);
    covered.add(responses[0].outcome);
    for (const one of variantsIn(sandbox, responses[0].status)) seen.add(one);
  }
  const responding = (outcomes as readonly Outcome[])
    .filter(({ id }) => !id.startsWith("fault."))
    .map(({ id }) => id);
  expect([...covered].sort()).toEqual(responding.sort());
  const all = variationTable.flatMap(({ id, variants }) => variants.map((one) => `${id}: ${one.id}`));
  expect(all.filter((one) => !seen.has(one))).toEqual([]);
});

test("R7 every response has its own id, and the journal has the response under it", () => {
  const sandbox = varied(5);
  const ids: string[] = [];
  const wrong: unknown[] = [];
  for (let round = 0; round < 25; round++) {
    for (const question of everyQuestion(sandbox)) {
      const response = ask(sandbox, question);
      const [entry] = sandbox.journal.requests({ limit: 1, probes: true });
      const shown = headerOf(response, "x-request-id") ?? entry?.id;
      const code = response.body === "" ? entry?.code : (JSON.parse(response.body).error?.code ?? null);
      if (shown !== entry?.id || code !== entry?.code) wrong.push({ response, entry });
      ids.push(entry?.id as string);
    }
  }
  expect(wrong).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test("R14 the response to the nth request has the same bytes, no matter what is wrong with the key", () => {
  for (const seed of [1, 2, 3, 4]) {
    const sandboxes = rejectedKeys.map(() => varied(seed));
    for (let round = 0; round < 30; round++) {
      const [first, ...others] = sandboxes.map((sandbox, index) => {
        const key = rejectedKeys[(index + round) % rejectedKeys.length];
        const { status, headers, body } = ask(sandbox, key === undefined ? {} : { key });
        return JSON.stringify({ status, headers, body });
      });
      for (const other of others) expect(other).toBe(first);
    }
  }
});

test("R14 only in varied a 401 may have details, and they do not depend on its cause", () => {
  const detailsIn = (profile: Profile, seed: number) => {
    const sandbox = startFrozen("key-states", { profile, seed });
    return rejectedKeys.map(
      (key) => JSON.parse(ask(sandbox, { ...(key !== undefined && { key }) }).body).error.details,
    );
  };
  for (const profile of ["minimal", "typical"] as const) {
    expect(new Set(detailsIn(profile, 1))).toEqual(new Set([undefined]));
  }
  const seen = [1, 2, 3, 4, 5, 6, 7, 8].map(
    (seed) => new Set(detailsIn("varied", seed).map((one) => JSON.stringify(one))),
  );
  for (const details of seen) expect(details.size).toBe(1);
  expect(new Set(seen.flatMap((details) => [...details])).size).toBeGreaterThan(1);
});

test("a HEAD has the headers that the GET in its place would have", () => {
  const [heads, gets] = [varied(3), varied(3)];
  for (const question of everyQuestion(heads).filter(({ method }) => method === "HEAD")) {
    const head = ask(heads, question);
    expect(head.body).toBe("");
    expect(head.headers).toEqual(ask(gets, { ...question, method: "GET" }).headers);
  }
});

test("a strong ETag is that of the body's bytes: equal for equal bodies, and for no others", () => {
  const bodies = new Map<string, string>();
  for (const { responses } of compared(1_000)) {
    const [response] = responses;
    const etag = headerOf(response, "etag");
    if (etag === undefined || etag.startsWith("W/") || response.body === "") continue;
    expect([etag, bodies.get(etag) ?? response.body]).toEqual([etag, response.body]);
    bodies.set(etag, response.body);
  }
  expect(bodies.size).toBe(new Set(bodies.values()).size);
  expect(bodies.size).toBeGreaterThan(20);
});

const scenario: Scenario = {
  version: 1,
  clock: { now: "2026-03-02T09:00:00Z" },
  organizations: {
    bank: {
      name: "Bänk <A/B>",
      type: "bank",
      keys: {
        key: {
          environment: "test",
          scopes: ["consents:read", "attestations:read", "attestations:write"],
          limits: { per_minute: 60, per_day: 1000 },
        },
      },
    },
  },
};
const comparedOutcomes: readonly ApiOutcomeId[] = [
  "200.test",
  "401.revoked",
  "403.insufficient_scope",
  "404.unknown_path",
  "405.method",
  "429.per_minute",
];

/** The responses on outcomes of every status. Of `varied`, only these rows vary. */
function responsesOf(profile: Profile, seed: number, rows: readonly RowChoice[] = []): ApiResponse[] {
  return comparedOutcomes.map((outcome) => {
    const sandbox = startFrozen(scenario, { profile, seed, run: conditionedRun({ rows }) });
    const begun = startCall(sandbox, asked({ apiKey: secretToSend(sandbox, "key") }));
    const isMe = outcome === "200.test";
    const kind = { status: outcomeRow(outcome).status, content: isMe ? "me" : "json" } as const;
    const variation = chooseVariation(sandbox, begun, kind);
    const call = variation.variedCall;
    const { response } =
      isMe && call.entry !== undefined
        ? { response: renderSuccess(call, me, me.respond(call.entry, sandbox.additions)) }
        : renderRejection(sandbox, call, outcome);
    return profile === "varied" ? rewriteResponse(response, variation) : response;
  });
}

const all = variationTable.flatMap((row) => row.variants.map((variant) => ({ row, variant })));

test("the first variant of every row is what minimal does", () => {
  expect(responsesOf("varied", 1)).toEqual(responsesOf("minimal", 1));
});

test.each(all.filter(({ row, variant }) => variant !== row.variants[0]))(
  "$row.id: $variant.id changes only responses of its statuses",
  ({ row, variant }) => {
    const seeds = row.variants.map((_, at) => at + 1);
    const seed = seeds.find((one) => variantOn(0, row, { seed: one }) === variant) as number;
    const plain = responsesOf("varied", seed);
    const changed = responsesOf("varied", seed, [{ row: row.id }]);
    const statuses = changed
      .filter((response, index) => JSON.stringify(response) !== JSON.stringify(plain[index]))
      .map(({ status }) => status);
    expect(statuses.length).toBeGreaterThan(0);
    for (const status of statuses) expect(row.statuses).toContain(status);
  },
);

test.each([
  ["a list", []],
  ["a list in a list", [[1], "}"]],
  ["a text", "}"],
  ["a number", 1.5],
  ["null", null],
])("a longer body that is %s has other bytes and the same value", (_kind, body) => {
  const lengths = variationTable.find(({ id }) => id === "body_length") as VariationRow;
  for (const variant of lengths.variants.slice(1)) {
    const text = JSON.stringify(body);
    const changed = variant.changeText?.(text) ?? text;
    expect(changed.length).toBeGreaterThan(text.length + 1000);
    expect(JSON.parse(changed)).toEqual(body);
  }
});

type Assumed = NonNullable<Scenario["assumptions"]>;

/** What a scenario can set of each row, with the variants that are left: `true` leaves each form of what is there. */
const givable: readonly [VariationRow["id"], Assumed, left: readonly string[]][] = [
  ["rate_limit_code", { rate_limit_code: "slow_down" }, []],
  ["rate_limit_code", { rate_limit_code: "quota_exceeded" }, []],
  ["request_id_on_errors", { request_id_on_errors: false }, []],
  ["request_id_on_errors", { request_id_on_errors: true }, []],
  ["error_details", { error_details: false }, []],
  ["error_details", { error_details: true }, ["what_was_rejected", "empty", "help", "something_else"]],
  ["retry_after", { retry_after: "none" }, []],
  ["retry_after", { retry_after: "seconds" }, []],
  ["rate_limit_headers", { rate_limit_headers: "none" }, []],
  ["rate_limit_headers", { rate_limit_headers: "legacy" }, []],
  ["www_authenticate", { www_authenticate: false }, []],
  ["www_authenticate", { www_authenticate: true }, ["api_key", "bare"]],
];

test("every row that an assumption can fix is tried here", () => {
  const fixable = variationTable.filter(({ assumption }) => assumption !== undefined).map(({ id }) => id);
  expect([...new Set(givable.map(([id]) => id))].sort()).toEqual(fixable.sort());
});

test.each(givable)("%s varies only in what its assumption leaves open: %j", (id, assumptions, left) => {
  const seen = new Set<string>();
  const outcome = id === "www_authenticate" ? "401.missing" : "429.per_minute";
  const kind = { status: outcomeRow(outcome).status, content: "json" } as const;
  for (let seed = 1; seed <= 8; seed++) {
    const sandbox = startFrozen({ ...scenario, seed, assumptions: { profile: "varied", ...assumptions } });
    const { variedCall, variants } = chooseVariation(sandbox, startCall(sandbox, asked({})), kind);
    for (const { row, variant } of variants) if (row.id === id) seen.add(variant.id);
    expect(variedCall.assumptions).toMatchObject(assumptions);
  }
  expect([...seen].sort()).toEqual([...left].sort());
});
