import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { storySender } from "../../src/api/handle.js";
import { createSandbox, parseScenario } from "../../src/index.js";
import { type CaptureOptions, captureText } from "../../src/library/capture.js";
import { runtimeOf } from "../../src/library/create-sandbox.js";
import { openWorld } from "../../src/node/platform.js";
import type { Exchange } from "../../src/sandbox/journal/exchange.js";
import { settled } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox.js";
import { runStory, stepProblems } from "../../src/sandbox/story/run-step.js";
import { startServer } from "../../src/server/index.js";
import { anyScenario, command } from "../model/commands.js";
import { played, transcript } from "../model/transcript.js";
import { control } from "../support/call-control.js";
import { runs } from "../support/property-seed.js";

/** Runs a captured file as `verify` does, and returns the world after it; all has to be as expected. */
function verified(text: string): SandboxState {
  const world = openWorld(parseScenario(text), { frozen: true });
  const results = runStory(world, storySender(world));
  expect(results.flatMap(stepProblems)).toEqual([]);
  expect(results.length).toBe(world.story.steps.length);
  return world;
}

/** The requests as the client saw them, byte for byte. */
function answersOf({ history }: SandboxState, exchanges: readonly Exchange[] = history.requests()) {
  return exchanges.map(({ id, at, status, pathId, fault, answer, delivery }) => ({
    ...{ id, at, status, pathId, fault, cutAfter: delivery?.cutAfter, body: answer.body },
    headers: answer.headers,
  }));
}

const captured = (world: SandboxState, options: CaptureOptions = {}) => {
  const text = captureText(world, options);
  expect(text).not.toMatch(/(?:SVC|svc)_(?:test|live)_[\w-]/);
  return text;
};

/** Captures a session, wholly and in part, and proves each file. */
function captures(
  world: SandboxState,
  keys: ReadonlySet<string>,
  [from, to]: readonly [number, number],
): void {
  const exchanges = world.history.recorded().entries.filter((one) => "pathId" in one);
  if (exchanges.length === 0) {
    expect(() => captureText(world)).toThrow(expect.objectContaining({ code: "capture_impossible" }));
    return;
  }
  const text = captured(world);
  for (const key of keys) expect(text).not.toContain(key);
  const seen = answersOf(world, exchanges);
  expect(answersOf(verified(text))).toEqual(seen);

  const [first, last] = [from % seen.length, to % seen.length].toSorted((one, other) => one - other) as [
    number,
    number,
  ];
  const part = captured(world, { from: seen[first]?.id, to: seen[last]?.id });
  expect(answersOf(verified(part))).toEqual(seen.slice(0, last + 1));

  const ref = exchanges[first]?.key;
  if (typeof ref === "string") expect(answersOf(verified(captured(world, { key: ref })))).toEqual(seen);
}

const part = fc.tuple(fc.nat(30), fc.nat(30));

test("a capture of the model's requests gives the same responses", async () => {
  const commands = fc.array(command, { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(anyScenario, commands, part, async (scenario, steps, chosen) => {
      const sandbox = createSandbox({ scenario });
      await transcript(played(sandbox), steps);
      captures(settled(runtimeOf(sandbox)), new Set(), chosen);
    }),
    runs(10),
  );
});

const everything = "[attestations:read, attestations:write, consents:read, consents:write]";
const scenario = parseScenario(`
version: 1
name: Session
preview: true
clock: { now: 2026-03-02T23:58:30Z, frozen: true }
population: { farmers: 6 }
organizations:
  bank:
    type: bank
    live_access: approved
    keys:
      a: { environment: test, limits: { per_minute: 3, per_day: 6 }, scopes: ${everything} }
      b: { environment: live, expires: 90s }
      e: { environment: test, scopes: ${everything}, secret: SVC_test_sbxpinnedpinnedpinnedpinned00 }
  insurer: { type: insurer, keys: { c: { environment: test, scopes: [consents:read] } } }
timeline:
  - { at: 70s, revoke: { key: c }, expect: { error: key_not_active } }
  - { at: 80s, organization: { ref: bank, status: inactive } }
  - { at: 100s, organization: { ref: bank, status: active } }
`);

test.each([
  "minimal",
  "typical",
  "varied",
] as const)("a capture of each operation and kind of request over HTTP gives the same responses, with %s", async (profile) => {
  const { sandbox, url, controlUrl, close } = await startServer({ scenario, profile });
  onTestFinished(() => close(0));
  const secrets = new Set<string>();
  const send = async (key: string, path: string, init: RequestInit = {}) => {
    const headers = { "x-api-key": key, ...init.headers };
    const response = await fetch(url + path, { ...init, headers });
    return response.json().catch(() => ({}));
  };
  const call = async (line: string, body: object = {}) => {
    const { data = {} } = (await control(controlUrl, line, body)).body ?? {};
    if (data.secret !== undefined) secrets.add(data.secret);
    return data;
  };
  const [me, consents] = ["/v1/relying-party/me", "/v1/relying-party/consent-requests"];
  const [a, b, c, e] = ["a", "b", "c", "e"].map((ref) => sandbox.secret(ref as "a")) as [
    string,
    string,
    string,
    string,
  ];
  const ask = async (farmer: number, headers: object = {}, space = 0) => {
    const purpose = { code: "credit_assessment", text: "A loan" };
    const asked = { farmer_id: sandbox.farmers.at(farmer).farmer_id, purpose, permissions: ["land"] };
    const init = { method: "POST", body: JSON.stringify(asked, null, space) };
    await send(e, consents, { ...init, headers: { "content-type": "application/json", ...headers } });
    return sandbox.consents.list().at(-1)?.id;
  };
  for (const key of [a, a, b, c, a, a, "junk", sandbox.unknownSecret()]) await send(key, me);
  for (const method of ["HEAD", "POST", "PROPFIND"]) await send(e, `${me}?page=2`, { method });
  for (const path of [
    "/nothing/%C3%A4/{x}",
    "/SVC_test_sbxleakedleakedleaked",
    `${consents}/{consent.1}`,
    "/",
  ])
    await send(a, path);
  const granted = await ask(0);
  const rejected = await ask(1, { "idempotency-key": '"once"' }, 2);
  await ask(1, { "idempotency-key": '"once"' }, 2);
  const cancelled = await ask(2, { "content-type": "application/json; charset=utf-8" });
  await send(e, consents, {
    method: "POST",
    body: '{"farmer_id":',
    headers: { "content-type": "text/plain" },
  });
  await send(e, `${consents}/${cancelled}/cancel`, { method: "POST" });
  await call(`POST /consents/${granted}/grant`);
  await call(`POST /consents/${rejected}/reject`);
  await call("POST /clock/advance", { by: "1h" });
  const id = sandbox.attestations.list()[0]?.id;
  for (const verb of ["suspend", "resume"]) {
    await call(`POST /attestations/${id}/${verb}`);
    await send(e, `/v1/relying-party/attestations/${id}`);
  }
  await call(`POST /consents/${granted}/revoke`);
  await send(e, "/v1/relying-party/attestations?limit=2");
  const made = await call("POST /keys", {
    organization: "bank",
    environment: "live",
    name: "g",
    expires: "30s",
  });
  const rotated = await call("POST /keys/a/rotate", { overlap_minutes: 1 });
  await call("POST /keys/nothing/revoke");
  await call("PATCH /organizations/insurer", { status: "inactive" });
  await call("PUT /assumptions", { count_refused: true, day_resets_at: "06:00" });
  const faults = [{ when: { every: 2 }, then: { status: 503, body: "html" } }, { then: { truncate: true } }];
  await call("PUT /faults", { faults });
  for (const key of [made.secret, rotated.secret, a, c]) await send(key, me).catch(() => {});
  await call("PUT /faults", { faults: [] });
  await call("POST /clock/advance", { by: "90s" });
  for (const key of [made.secret, rotated.secret, a, c]) await send(key, me);
  await call("POST /keys/e/revoke");
  await send(e, me);
  expect(sandbox.consents.list().map(({ status }) => status)).toEqual(["revoked", "rejected", "cancelled"]);
  expect([sandbox.requests.total(), sandbox.keys.list().length]).toEqual([33, 6]);
  for (const range of [
    [0, 32],
    [7, 30],
  ] as const) {
    captures(settled(runtimeOf(sandbox)), new Set([...secrets, a, b, c, e]), range);
  }
});
