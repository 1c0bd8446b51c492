import fc from "fast-check";
import { expect, test } from "vitest";
import { storySender } from "../../src/api/story-sender.js";
import { createSandbox, type Fault, parseScenario, type Sandbox, SandboxError } from "../../src/index.js";
import { type CaptureOptions, captureText } from "../../src/library/capture.js";
import { stateOf } from "../../src/library/create-sandbox.js";
import { readOpenApi } from "../../src/library/entries/openapi.js";
import { loadReader, startInNode } from "../../src/node/platform.js";
import type { Exchange } from "../../src/sandbox/journal/exchange.js";
import { runDue } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox.js";
import { runStory, stepProblems } from "../../src/sandbox/story/run-step.js";
import { anyScenario, command } from "../model/commands.js";
import { played, transcript } from "../model/transcript.js";
import { runs } from "../support/property-seed.js";

await loadReader();

/** Runs a captured file as `verify` does, and returns the sandbox after it; all has to be as expected. */
function verified(text: string): SandboxState {
  const sandbox = startInNode(parseScenario(text), { frozen: true });
  const results = runStory(sandbox, storySender(sandbox));
  expect(results.flatMap(stepProblems)).toEqual([]);
  expect(results.length).toBe(sandbox.story.steps.length);
  return sandbox;
}

/** The requests as the client saw them, byte for byte. */
function responsesOf({ history }: SandboxState, exchanges: readonly Exchange[] = history.requests()) {
  return exchanges.map(({ id, at, status, pathId, fault, response, delivery }) => ({
    ...{ id, at, status, pathId, fault, cutAfter: delivery?.cutAfter, body: response.body },
    headers: response.headers,
  }));
}

const captured = (sandbox: SandboxState, options: CaptureOptions = {}) => {
  const text = captureText(sandbox, options);
  expect(text).not.toMatch(/(?:SVC|svc)_(?:test|live)_[\w-]/);
  return text;
};

/** Captures a session, wholly and in part, and proves each file. */
function captures(sandbox: SandboxState, keys: Set<string>, [from, to]: [number, number]): void {
  const exchanges = sandbox.history.recorded().entries.filter((one) => "pathId" in one);
  if (exchanges.length === 0) {
    expect(() => captureText(sandbox)).toThrow(expect.objectContaining({ code: "capture_impossible" }));
    return;
  }
  const text = captured(sandbox);
  for (const key of keys) expect(text).not.toContain(key);
  const seen = responsesOf(sandbox, exchanges);
  expect(responsesOf(verified(text))).toEqual(seen);

  const [first, last] = [from % seen.length, to % seen.length].toSorted((one, other) => one - other) as [
    number,
    number,
  ];
  const part = captured(sandbox, { from: seen[first]?.id, to: seen[last]?.id });
  expect(responsesOf(verified(part))).toEqual(seen.slice(0, last + 1));

  const ref = exchanges[first]?.key;
  if (typeof ref === "string") expect(responsesOf(verified(captured(sandbox, { key: ref })))).toEqual(seen);
}

const part = fc.tuple(fc.nat(30), fc.nat(30));

test("a capture of the model's requests gives the same responses", async () => {
  const commands = fc.array(command, { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(anyScenario, commands, part, async (scenario, steps, chosen) => {
      const sandbox = createSandbox({ scenario, openapi: readOpenApi() });
      await transcript(played(sandbox), steps);
      captures(runDue(stateOf(sandbox)), new Set(), chosen);
    }),
    runs(10),
  );
});

const everything = "[attestations:read, attestations:write, consents:read, consents:write]";
const scenario = parseScenario(`
version: 1
name: Session
extends: announced-endpoints
default_key: a
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

type Action = (sandbox: Sandbox, secrets: Map<string, string>, n: number) => unknown;

/** What happens to records. */
const ofRecords: Action = ({ records }, _secrets, n) => {
  const all = records.list("consent-requests");
  const id = at(all, n >> 2)?.id ?? "none";
  if (n % 3 === 0) records.remove("consent-requests", id);
  else if (n % 3 === 1) records.set("consent-requests", id, { status: at(["granted", "rejected"], n >> 4) });
  else records.add("consent-requests", { organization: "bank", status: "pending" });
};

/** What clients and administrators do, drawn by numbers; rejections are part of a session. */
const actions: readonly Action[] = [
  ofRecords,
  (sandbox, secrets, n) => {
    const key = at([...secrets.values(), "junk", sandbox.secret("unknown")], n >> 2);
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
  ({ clock }, _secrets, n) =>
    void clock.advance(at([1, 999, 20_000, 60_000, 90_000, 7_200_000, 86_400_000], n)),
  ({ clock }, _secrets, n) => clock[at(["freeze", "resume"] as const, n)](),
  ({ keys }, _secrets, n) => void keys.revoke(at(refs, n)),
  ({ keys }, _secrets, n) => void keys.expire(at(refs, n), { expires: `${n % 90}m` }),
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

test.each(["minimal", "typical", "varied"] as const)(
  "a capture of a random session gives the same responses, wholly and in part, with %s",
  async (profile) => {
    const step = fc.tuple(fc.constantFrom(...actions, ...Array(12).fill(actions[0])), fc.nat(1000));
    const steps = fc.array(step, { minLength: 10, maxLength: 40, size: "max" });
    const property = fc.asyncProperty(steps, part, async (session, chosen) => {
      const sandbox: Sandbox = createSandbox({ scenario, profile, openapi: readOpenApi() });
      const secrets = new Map(["a", "b", "c", "e"].map((ref) => [ref, sandbox.secret(ref)]));
      // Each action once, so that a session can be about what they have made.
      const all = actions.map((act, n) => [act, n] as const);
      for (const [act, n] of [...all, ...session]) {
        try {
          await act(sandbox, secrets, n);
        } catch (error) {
          if (!(error instanceof SandboxError)) throw error;
        }
      }
      captures(runDue(stateOf(sandbox)), new Set(secrets.values()), chosen);
    });
    await fc.assert(property, runs(15));
  },
);
