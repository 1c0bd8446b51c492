import fc from "fast-check";
import { expect, test } from "vitest";
import { type ConsentView, createSandbox, type Sandbox } from "../../src/index.js";
import { clientInProcess } from "../support/doors.js";
import { runs } from "../support/property-seed.js";
import { openPreview, previewClient } from "./client.js";

const permissions = ["identity", "land", "production", "livestock", "insurance", "loans"];
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** A consent request as docs/farmers.md describes it, written apart from the code. */
interface Consent {
  readonly farmer: number;
  readonly created: number;
  readonly expires: number;
  readonly history: { status: string; at: number; by: string }[];
  readonly suspended: Set<string>;
  readonly permissions: readonly string[];
  /** Whether the farmer granted unasked. */
  ownWill: boolean;
}

/** What the first five farmers do; no others are asked. */
const answers = ["granted", "rejected", undefined, "granted", "granted"] as const;

const statusOf = ({ history }: Consent) => history.at(-1)?.status ?? "";
const grantOf = ({ history }: Consent) => history.find(({ status }) => status === "granted");
const shownHistory = ({ history }: Consent) =>
  history.map(({ status, at, by }) => ({ status, at: new Date(at).toISOString(), by }));

/** Lets everything happen that is due by now. */
function live(consent: Consent, now: number): void {
  for (let due = nextOf(consent); due !== undefined && due.at <= now; due = nextOf(consent)) {
    consent.history.push(due);
    if (due.status === "granted") consent.ownWill = true;
  }
}

function nextOf({ farmer, created, expires, history, ownWill }: Consent) {
  const { status, at } = history.at(-1) as Consent["history"][number];
  if (status === "pending") {
    const late = Math.min(created + 7 * day, expires);
    const answer = answers[farmer];
    const isAnswered = answer !== undefined && created + 2 * hour < late;
    return isAnswered
      ? { status: answer, at: created + 2 * hour, by: "farmer" }
      : { status: "expired", at: late, by: "system" };
  }
  if (status !== "granted") return undefined;
  const isRevoked = farmer === 3 && ownWill && at + 30 * day < expires;
  return isRevoked
    ? { status: "revoked", at: at + 30 * day, by: "farmer" }
    : { status: "expired", at: expires, by: "system" };
}

const moves: Readonly<Record<string, readonly [from: readonly string[], to: string, by: string]>> = {
  grant: [["pending"], "granted", "farmer"],
  reject: [["pending"], "rejected", "farmer"],
  revoke: [["granted"], "revoked", "farmer"],
  cancel: [["pending", "granted"], "cancelled", "relying_party"],
};

/** How an attestation stands: `none`, `processing`, `failed`, or its validity. */
function attestationOf(consent: Consent, permission: string, now: number): string {
  const granted = grantOf(consent);
  if (granted === undefined) return "none";
  const end = consent.history[consent.history.indexOf(granted) + 1];
  if (end !== undefined && end.at - granted.at < minute) return "failed";
  if (now - granted.at < minute) return "processing";
  if (consent.farmer === 4) return "failed";
  if (end !== undefined) return end.status === "expired" ? "expired" : "revoked";
  return consent.suspended.has(permission) ? "suspended" : "active";
}

const attestationsOf = (consent: Consent, now: number) =>
  consent.permissions
    .map((permission) => [permission, attestationOf(consent, permission, now)])
    .filter(([, state]) => state !== "none");

/** The spans after which something happens, and one millisecond on either side of them. */
const spans = [0, 1, minute, 2 * hour, 7 * day, 30 * day, 90 * day, 365 * day]
  .flatMap((span) => [span - 1, span, span + 1])
  .filter((span) => span >= 0);

const which = fc.nat(50);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("ask" as const),
      farmer: fc.nat(4),
      lasts: fc.constantFrom(...spans.filter((span) => span > 0 && span <= 365 * day)),
      permissions: fc.subarray(permissions, { minLength: 1 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("grant" as const, "reject", "revoke", "cancel"), which }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("suspend" as const, "resume"), which }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("advance" as const), by: fc.constantFrom(...spans) }) },
  { weight: 1, arbitrary: fc.constant({ do: "restart" as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Whether the sandbox did it; any error but its refusal is thrown. */
function done(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (/^(consent_not_open|attestation_not_open|unknown_ref)$/.test(code ?? "")) return false;
    throw error;
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  let client = openPreview();
  const model: Consent[] = [];
  const now = () => Date.parse(client.sandbox.clock.now());

  const take = async (taken: Step): Promise<void> => {
    const { sandbox } = client;
    if (taken.do === "advance") sandbox.clock.advance(taken.by);
    else if (taken.do === "restart") {
      const snapshot = JSON.parse(JSON.stringify(sandbox.snapshot()));
      const restarted: Sandbox = createSandbox({ scenario: snapshot });
      expect(restarted.snapshot()).toEqual(snapshot);
      client = previewClient(clientInProcess(restarted));
    } else if (taken.do === "ask") {
      const { farmer, permissions } = taken;
      const [created, expires] = [now(), now() + taken.lasts];
      const expires_at = new Date(expires).toISOString();
      expect((await client.ask("bank", farmer, { permissions, expires_at })).status).toBe(201);
      const history = [{ status: "pending", at: created, by: "relying_party" }];
      model.push({ farmer, created, expires, permissions, history, suspended: new Set(), ownWill: false });
    } else if (model.length > 0) await change(taken.do, taken.which % model.length);
  };

  const change = async (action: Exclude<Step["do"], "ask" | "advance" | "restart">, index: number) => {
    const { sandbox, cancel } = client;
    const { id, attestations } = sandbox.consents.list()[index] as ConsentView;
    const consent = model[index] as Consent;
    live(consent, now());
    if (action === "suspend" || action === "resume") {
      const permission = consent.permissions[0] as string;
      const state = attestationOf(consent, permission, now());
      const isPossible = state === { suspend: "active", resume: "suspended" }[action];
      expect(done(() => sandbox.attestations[action](attestations[0]?.id ?? "none"))).toBe(isPossible);
      if (isPossible && !consent.suspended.delete(permission)) consent.suspended.add(permission);
      return;
    }
    const [from, status, by] = moves[action] as (typeof moves)[string];
    const isPossible = from.includes(statusOf(consent));
    if (isPossible) consent.history.push({ status, at: now(), by });
    if (action === "cancel") expect((await cancel("bank", id)).status).toBe(isPossible ? 200 : 409);
    else expect(done(() => sandbox.consents[action](id))).toBe(isPossible);
  };

  for (const taken of steps) {
    await take(taken);
    for (const consent of model) live(consent, now());
    const shown = client.sandbox.consents
      .list()
      .map(({ history, attestations }) => [
        history,
        attestations.map(({ type, validity, production }) => [type, validity ?? production]),
      ]);
    const modelled = model.map((consent) => [shownHistory(consent), attestationsOf(consent, now())]);
    // The matcher takes longer than all the rest, and differences are rare.
    if (JSON.stringify(shown) !== JSON.stringify(modelled)) expect(shown).toEqual(modelled);
  }

  // The API says the same in the end.
  for (const [index, { id }] of client.sandbox.consents.list().entries()) {
    const { data } = (await client.get("bank", id)).json;
    const consent = model[index] as Consent;
    expect([data.status, data.history]).toEqual([statusOf(consent), shownHistory(consent)]);
  }
  const { data, page } = (await client.attestations("bank")).json;
  const existing = model
    .toSorted((one, other) => (grantOf(one)?.at ?? 0) - (grantOf(other)?.at ?? 0))
    .flatMap((consent) => attestationsOf(consent, now()).map(([permission]) => permission));
  expect(page.total).toBe(existing.length);
  expect(data.map(({ type }: { type: string }) => type)).toEqual(existing.slice(0, 20));
}

test("consent requests behave like the model in any order, before and after every restart", async () => {
  const steps = fc.array(step, { maxLength: 20, size: "max" });
  await fc.assert(fc.asyncProperty(steps, play), runs(80));
});
