import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { storySender } from "../../src/api/handle.js";
import { createSandbox, type Fault, parseScenario, type Sandbox, SandboxError } from "../../src/index.js";
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

const [me, consentPath] = ["/v1/relying-party/me", "/v1/relying-party/consent-requests"];
const at = <Item>(items: readonly Item[], n: number) => items[n % items.length] as Item;
const refs = ["a", "a", "b", "c", "e", "a-2", "e-2", "g"];
const faultSets: Fault[][] = [
  [],
  [{ when: { every: 2 }, then: { status: 503, body: "html" } }],
  [
    { when: { probability: 0.5 }, then: { truncate: true } },
    { when: { path_id: "401.unknown" }, then: { malformed: true } },
  ],
  [
    { when: { requests: [2], key: "a" }, then: { reset: true } },
    { when: { requests: [1, 3] }, then: { hang: true } },
  ],
];

/** What clients and administrators do, drawn by numbers; refusals are part of a session. */
const actions: readonly ((sandbox: Sandbox, secrets: Map<string, string>, n: number) => unknown)[] = [
  (sandbox, secrets, n) => {
    const key = at([...secrets.values(), "junk", sandbox.unknownSecret()], n >> 2);
    const path = at([me, me, me, `${me}?page=2`, "/nothing/%C3%A4/{x}", `${consentPath}/none`, "/"], n);
    return send(sandbox, path, {
      method: at(["GET", "GET", "HEAD", "POST"], n >> 5),
      headers: { "x-api-key": key },
    });
  },
  (sandbox, secrets, n) => {
    const purpose = { code: "credit_assessment", text: at(["A loan", "With SVC_test_sbxinthebody"], n) };
    const asked = {
      farmer_id: sandbox.farmers.at(n % 6).farmer_id,
      purpose,
      permissions: ["land", "identity"],
    };
    const once = n % 3 === 0 ? { "idempotency-key": '"once"' } : {};
    const headers = { "x-api-key": secrets.get("e") as string, "content-type": "application/json", ...once };
    return send(sandbox, consentPath, { method: "POST", headers, body: JSON.stringify(asked, null, n % 2) });
  },
  ({ consents }, _secrets, n) => {
    consents[at(["grant", "reject", "revoke"] as const, n)](at(consents.list(), n >> 2)?.id ?? "none");
  },
  ({ attestations }, _secrets, n) => {
    attestations[at(["suspend", "resume"] as const, n)](at(attestations.list(), n >> 1)?.id ?? "none");
  },
  ({ clock }, _secrets, n) =>
    void clock.advance(at([1, 999, 20_000, 60_000, 90_000, 7_200_000, 86_400_000], n)),
  ({ clock }, _secrets, n) => clock[at(["freeze", "resume"] as const, n)](),
  ({ keys }, _secrets, n) => void keys.revoke(at(refs, n)),
  ({ keys }, secrets, n) => {
    const { key, secret } = keys.rotate(at(refs, n), { overlap: at(["0s", "30s", "60m"] as const, n >> 3) });
    secrets.set(key.ref, secret);
  },
  ({ keys }, secrets, n) => {
    const [organization, environment] = [at(["bank", "insurer"], n), at(["test", "live"] as const, n >> 1)];
    const { key, secret } = keys.create({
      organization,
      environment,
      name: at(["A key", "g"], n >> 2),
      expires: "30s",
    });
    secrets.set(key.ref, secret);
  },
  ({ organizations }, _secrets, n) =>
    void organizations.update(at(["bank", "insurer"], n), {
      status: at(["active", "inactive"] as const, n >> 1),
    }),
  ({ faults }, _secrets, n) => faults.set(at(faultSets, n)),
  ({ requests }, _secrets, n) => n % 8 === 0 && requests.clear(),
];

async function send(sandbox: Sandbox, path: string, init: RequestInit) {
  const ending = new AbortController();
  const response = sandbox.fetch(`https://any.example${path}`, { ...init, signal: ending.signal });
  // A fault may leave it without a response.
  setImmediate(() => ending.abort());
  await response.then((one) => one.text()).catch(() => {});
}

test.each([
  "minimal",
  "typical",
  "varied",
] as const)("a capture of a random session gives the same responses, wholly and in part, with %s", async (profile) => {
  const step = fc.tuple(fc.constantFrom(...actions, ...Array(12).fill(actions[0])), fc.nat(1000));
  const steps = fc.array(step, { minLength: 10, maxLength: 40, size: "max" });
  const property = fc.asyncProperty(steps, part, async (session, chosen) => {
    const sandbox: Sandbox = createSandbox({ scenario, profile });
    const secrets = new Map(["a", "b", "c", "e"].map((ref) => [ref, sandbox.secret(ref)]));
    for (const [act, n] of session) {
      try {
        await act(sandbox, secrets, n);
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
      }
    }
    captures(settled(runtimeOf(sandbox)), new Set(secrets.values()), chosen);
  });
  await fc.assert(property, runs(15));
});

test.each([
  "minimal",
  "typical",
  "varied",
] as const)("a capture of each operation and kind of request over HTTP gives the same responses, with %s", async (profile) => {
  const { sandbox, url, controlUrl, close } = await startServer({ scenario, profile });
  onTestFinished(() => close(0));
  const secrets = new Set<string>();
  const sendTo = async (key: string, path: string, init: RequestInit = {}) => {
    const headers = { "x-api-key": key, ...init.headers };
    const response = await fetch(url + path, { ...init, headers });
    return response.json().catch(() => ({}));
  };
  const call = async (line: string, body: object = {}) => {
    const { data = {} } = (await control(controlUrl, line, body)).body ?? {};
    if (data.secret !== undefined) secrets.add(data.secret);
    return data;
  };
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
    await sendTo(e, consentPath, { ...init, headers: { "content-type": "application/json", ...headers } });
    return sandbox.consents.list().at(-1)?.id;
  };
  for (const key of [a, a, b, c, a, a, "junk", sandbox.unknownSecret()]) await sendTo(key, me);
  for (const method of ["HEAD", "POST", "PROPFIND"]) await sendTo(e, `${me}?page=2`, { method });
  for (const path of [
    "/nothing/%C3%A4/{x}",
    "/SVC_test_sbxleakedleakedleaked",
    `${consentPath}/{consent.1}`,
    "/",
  ])
    await sendTo(a, path);
  const granted = await ask(0);
  const rejected = await ask(1, { "idempotency-key": '"once"' }, 2);
  await ask(1, { "idempotency-key": '"once"' }, 2);
  const cancelled = await ask(2, { "content-type": "application/json; charset=utf-8" });
  await sendTo(e, consentPath, {
    method: "POST",
    body: '{"farmer_id":',
    headers: { "content-type": "text/plain" },
  });
  await sendTo(e, `${consentPath}/${cancelled}/cancel`, { method: "POST" });
  await call(`POST /consents/${granted}/grant`);
  await call(`POST /consents/${rejected}/reject`);
  await call("POST /clock/advance", { by: "1h" });
  const id = sandbox.attestations.list()[0]?.id;
  for (const verb of ["suspend", "resume"]) {
    await call(`POST /attestations/${id}/${verb}`);
    await sendTo(e, `/v1/relying-party/attestations/${id}`);
  }
  await call(`POST /consents/${granted}/revoke`);
  await sendTo(e, "/v1/relying-party/attestations?limit=2");
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
  for (const key of [made.secret, rotated.secret, a, c]) await sendTo(key, me).catch(() => {});
  await call("PUT /faults", { faults: [] });
  await call("POST /clock/advance", { by: "90s" });
  for (const key of [made.secret, rotated.secret, a, c]) await sendTo(key, me);
  await call("POST /keys/e/revoke");
  await sendTo(e, me);
  expect(sandbox.consents.list().map(({ status }) => status)).toEqual(["revoked", "rejected", "cancelled"]);
  expect([sandbox.requests.total(), sandbox.keys.list().length]).toEqual([33, 6]);
  for (const range of [
    [0, 32],
    [7, 30],
  ] as const) {
    captures(settled(runtimeOf(sandbox)), new Set([...secrets, a, b, c, e]), range);
  }
});
