import fc from "fast-check";
import type { Sandbox, Scenario } from "../../src/index.js";
import { control } from "../support/call-control.js";

const everything = ["attestations:read", "attestations:write", "consents:read", "consents:write"];

/** A world in which a few actions meet limits, ends of keys, a timeline, farmers and faults. */
export const sessionScenario = fc
  .record({
    frozen: fc.boolean(),
    seed: fc.integer({ min: 1, max: 50 }),
    profile: fc.constantFrom("minimal" as const, "typical" as const, "varied" as const),
    sliding: fc.boolean(),
    inherited: fc.boolean(),
    hasTimeline: fc.boolean(),
    hasPinned: fc.boolean(),
  })
  .map(
    ({ frozen, seed, profile, sliding, inherited, hasTimeline, hasPinned }): Scenario => ({
      version: 1,
      name: "Sessions",
      seed,
      preview: true,
      clock: { now: "2026-03-02T23:58:30Z", frozen },
      population: { farmers: 6 },
      assumptions: {
        profile,
        minute_window: sliding ? "sliding" : "fixed",
        replacement_usage: inherited ? "inherited" : "fresh",
      },
      organizations: {
        bank: {
          type: "bank",
          live_access: "approved",
          keys: {
            a: { environment: "test", limits: { per_minute: 3, per_day: 6 }, scopes: everything },
            b: { environment: "live", expires: "90s" },
            e: {
              environment: "test",
              scopes: everything,
              ...(hasPinned && { secret: "SVC_test_sbxpinnedpinnedpinnedpinned00" }),
            },
          },
        },
        insurer: { type: "insurer", keys: { c: { environment: "test", scopes: ["consents:read"] } } },
      },
      ...(hasTimeline && {
        timeline: [
          { at: "20s", rotate: { key: "e", as: "f", overlap: "30s" } },
          { at: "70s", revoke: { key: "c" }, expect: { error: "key_not_active" } },
          { at: "80s", organization: { ref: "bank", status: "inactive" } },
          { at: "100s", organization: { ref: "bank", status: "active" } },
        ],
      }),
    }),
  );

type Faults = NonNullable<Scenario["faults"]>;

const refs = ["a", "b", "c", "e", "f", "g"] as const;
const consents = "/v1/relying-party/consent-requests";
const pick = fc.nat(20);

const action = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant("request" as const),
      key: fc.constantFrom("a", "a", "a", ...refs, "none", "junk", "two", "unknown"),
      method: fc.constantFrom("GET", "GET", "GET", "GET", "HEAD", "POST", "DELETE", "PROPFIND"),
      path: fc.constantFrom(
        ...[
          "/v1/relying-party/me",
          "/v1/relying-party/me",
          "/v1/relying-party/me?page=2",
          "/nothing/%C3%A4/{x}",
        ],
        ...["/SVC_test_sbxleakedleakedleaked", "/v1/relying-party/attestations?limit=2"],
        ...[`${consents}/none`, `${consents}/{consent.1}`, "/"],
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("ask" as const),
      key: fc.constantFrom("a", "e", "e", "c", "none"),
      farmer: fc.nat(7),
      idempotency: fc.constantFrom(undefined, undefined, '"once"', "again"),
      form: fc.constantFrom("plain", "plain", "spaced", "broken", "typed", "leaking"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("cancel" as const, "read"), which: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("grant" as const, "reject", "revoke-consent"), which: pick }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("suspend" as const, "resume"), which: pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      by: fc.constantFrom(1, 999, 10_000, 20_000, 30_000, 60_000, 90_000, 7_200_000, 86_400_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("freeze" as const, "resume-clock") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("revoke" as const), key: fc.constantFrom(...refs) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("rotate" as const),
      key: fc.constantFrom(...refs),
      as: fc.constantFrom(undefined, ...refs),
      overlap: fc.constantFrom(undefined, 0, 30, 20_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      organization: fc.constantFrom("bank", "insurer"),
      environment: fc.constantFrom("test" as const, "live" as const),
      name: fc.constantFrom("A key", "g", "SVC_test_sbxaname"),
      expires: fc.constantFrom(undefined, "30s", "2026-03-03T00:00:00Z"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("organization" as const),
      ref: fc.constantFrom("bank", "insurer"),
      status: fc.constantFrom("active" as const, "inactive" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("faults" as const),
      faults: fc.constantFrom<Faults[]>(
        [],
        [{ when: { every: 2 }, then: { status: 503 as const, body: "html" as const } }],
        [{ when: { probability: 0.5 }, then: { truncate: true } }],
        [{ when: { requests: [2], key: "a" }, then: { reset: true } }],
        [{ when: { requests: [1, 3] }, then: { hang: true } }],
        [{ when: { path_id: "401.unknown" as const, until: "60s" }, then: { malformed: true } }],
        [
          { when: { every: 3 }, then: { latency: "1ms", slow: 1_000_000 } },
          { then: { status: 500 as const } },
        ],
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("assumptions" as const),
      change: fc.constantFrom(
        { profile: "varied" as const },
        { profile: "typical" as const },
        { count_refused: true },
        { minute_window: "sliding" as const },
        { day_resets_at: "06:00", error_details: true },
        { rate_limit_headers: "legacy" as const, retry_after: "date" as const },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("clear" as const) }) },
);
export type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

export const actions = fc.array(action, { minLength: 1, maxLength: 30, size: "max" });

/** A running sandbox in whose world a session happens, by its control plane. */
export interface Place {
  readonly sandbox: Sandbox;
  readonly url: string;
  /** The keys that were sent or made. */
  readonly keys: Set<string>;
}

/** Does one thing; refusals are part of a session. */
export async function perform(
  { sandbox, url, keys }: Place,
  made: Map<string, string>,
  step: Action,
): Promise<void> {
  const call = async (route: string, body?: object) => {
    const answer = await control(`${url}/__sandbox`, route, body);
    if (answer.status >= 500) throw new Error(`${route}: ${answer.status}`);
    const { key, secret } = answer.body?.data ?? {};
    if (secret !== undefined) made.set(key.ref, secret);
  };
  const secretOf = (ref: string): string | undefined => {
    if (ref === "none") return undefined;
    if (ref === "junk" || ref === "two") return ref;
    const scenario = () => sandbox.secret(ref);
    try {
      return made.get(ref) ?? scenario();
    } catch {
      return sandbox.unknownSecret();
    }
  };
  const send = async (path: string, init: RequestInit, ref: string) => {
    const secret = secretOf(ref);
    const headers = new Headers(init.headers);
    if (secret !== undefined) headers.set("x-api-key", secret);
    if (ref === "two") headers.append("x-api-key", sandbox.unknownSecret());
    if (secret !== undefined && secret.length > 20) keys.add(secret);
    const signal = AbortSignal.timeout(50);
    // A fault may leave it without an answer, or without all of it.
    await fetch(url + path, { ...init, headers, signal })
      .then((response) => response.text())
      .catch(() => {});
  };
  const consent = (which: number) => sandbox.consents.list().at(which % 5)?.id ?? "none";
  const attestation = (which: number) => sandbox.attestations.list().at(which % 5)?.id ?? "none";

  switch (step.do) {
    case "request":
      return send(step.path, { method: step.method }, step.key);
    case "ask": {
      const farmer_id = sandbox.farmers.at(Math.min(step.farmer, 5)).farmer_id;
      const text = step.form === "leaking" ? "With SVC_test_sbxinthebodyinthebody" : "A loan";
      const value = {
        farmer_id,
        purpose: { code: "credit_assessment", text },
        permissions: ["land", "identity"],
      };
      const body =
        step.form === "broken"
          ? '{"farmer_id":'
          : JSON.stringify(value, null, step.form === "spaced" ? 2 : 0);
      const type = step.form === "typed" ? "application/json; charset=utf-8" : "application/json";
      const headers = {
        "content-type": type,
        ...(step.idempotency && { "idempotency-key": step.idempotency }),
      };
      return send(consents, { method: "POST", headers, body }, step.key);
    }
    case "cancel":
      return send(`${consents}/${consent(step.which)}/cancel`, { method: "POST" }, "e");
    case "read":
      return send(`/v1/relying-party/attestations/${attestation(step.which)}`, {}, "e");
    case "grant":
    case "reject":
    case "revoke-consent": {
      const verb = step.do === "revoke-consent" ? "revoke" : step.do;
      const id = consent(step.which);
      return call(`POST /consents/${id}/${verb}`);
    }
    case "suspend":
    case "resume": {
      const id = attestation(step.which);
      return call(`POST /attestations/${id}/${step.do}`);
    }
    case "advance":
      return call("POST /clock/advance", { by: `${step.by}ms` });
    case "freeze":
      return call("PUT /clock", { frozen: true });
    case "resume-clock":
      return call("PUT /clock", { frozen: false });
    case "revoke":
      return call(`POST /keys/${step.key}/revoke`);
    case "rotate": {
      const { key, as, overlap } = step;
      const minutes = overlap === undefined ? undefined : overlap / 60_000;
      return call(`POST /keys/${key}/rotate`, { as, overlap_minutes: minutes });
    }
    case "create": {
      const { organization, environment, name, expires } = step;
      const input = { organization, environment, name, ...(expires !== undefined && { expires }) };
      return call("POST /keys", input);
    }
    case "organization":
      return call(`PATCH /organizations/${step.ref}`, { status: step.status });
    case "faults":
      return call("PUT /faults", { faults: step.faults });
    case "assumptions":
      return call("PUT /assumptions", step.change);
    case "clear":
      return call("DELETE /requests");
  }
}
