import fc from "fast-check";
import { expect, test } from "vitest";
import { type ConsentView, createSandbox, type Sandbox } from "../../src/index.js";
import { clientInProcess } from "../support/doors.js";
import { propertySeed } from "../support/property-seed.js";
import { openPreview, type PreviewClient, previewClient } from "./client.js";
import { attestationOf, live, type ModelConsent, modelConsent, move, statusOf } from "./consent-model.js";

const permissions = ["identity", "land", "production", "livestock", "insurance", "loans"];
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The spans after which something happens, and one millisecond on either side of them. */
const spans = [0, 1, minute, 2 * hour, 7 * day, 30 * day, 90 * day, 365 * day]
  .flatMap((span) => [span - 1, span, span + 1])
  .filter((span) => span >= 0);

type Step =
  | {
      readonly do: "ask";
      readonly farmer: number;
      readonly lasts: number;
      readonly permissions: readonly string[];
    }
  | { readonly do: "grant" | "reject" | "revoke" | "cancel" | "suspend" | "resume"; readonly which: number }
  | { readonly do: "advance"; readonly by: number }
  | { readonly do: "restart" };

const which = fc.nat(50);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("ask" as const),
      farmer: fc.nat(4),
      lasts: fc.constantFrom(...spans.filter((span) => span > 0 && span <= 365 * day)),
      permissions: fc.subarray(permissions, { minLength: 1 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("grant", "reject", "revoke", "cancel"), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("suspend", "resume"), which }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("advance" as const), by: fc.constantFrom(...spans) }) },
  { weight: 1, arbitrary: fc.constant({ do: "restart" as const }) },
);

/** A sandbox and the model that says what its consent requests are to be. */
class Run {
  client: PreviewClient = openPreview();
  readonly model: ModelConsent[] = [];

  async take(taken: Step): Promise<void> {
    const { sandbox } = this.client;
    if (taken.do === "advance") sandbox.clock.advance(taken.by);
    else if (taken.do === "restart") this.restart();
    else if (taken.do === "ask") await this.ask(taken);
    else if (this.model.length > 0) await this.change(taken.do, taken.which % this.model.length);
  }

  now(): number {
    return Date.parse(this.client.sandbox.clock.now());
  }

  restart(): void {
    const snapshot = JSON.parse(JSON.stringify(this.client.sandbox.snapshot()));
    const restarted: Sandbox = createSandbox({ scenario: snapshot });
    expect(restarted.snapshot()).toEqual(snapshot);
    this.client = previewClient(clientInProcess(restarted));
  }

  async ask({ farmer, lasts, permissions }: Extract<Step, { do: "ask" }>): Promise<void> {
    const now = this.now();
    const expires_at = new Date(now + lasts).toISOString();
    expect((await this.client.ask("bank", farmer, { permissions, expires_at })).status).toBe(201);
    this.model.push(modelConsent(farmer, now, now + lasts, permissions));
  }

  async change(action: Exclude<Step["do"], "ask" | "advance" | "restart">, index: number): Promise<void> {
    const { sandbox, cancel } = this.client;
    const { id, attestations } = sandbox.consents.list()[index] as ConsentView;
    const model = this.model[index] as ModelConsent;
    const now = this.now();
    if (action === "cancel") {
      const { status } = await cancel("bank", id);
      expect(status).toBe(move(model, "cancel", now) ? 200 : 409);
    } else if (action === "suspend" || action === "resume") {
      live(model, now);
      const permission = model.permissions[0] as string;
      const isPossible =
        attestationOf(model, permission, now) === (action === "suspend" ? "active" : "suspended");
      expect(done(() => sandbox.attestations[action](attestations[0]?.id ?? "none"))).toBe(isPossible);
      if (isPossible) model.suspended.set(permission, action === "suspend");
    } else {
      const isPossible = move(model, action, now);
      expect(done(() => sandbox.consents[action](id))).toBe(isPossible);
    }
  }

  check(): void {
    const now = this.now();
    const shown = this.client.sandbox.consents
      .list()
      .map(({ history, attestations }) => [
        history,
        attestations.map(({ type, validity, production }) => [type, validity ?? production]),
      ]);
    const modelled = this.model.map((model) => {
      live(model, now);
      const states = model.permissions.map((permission) => [
        permission,
        attestationOf(model, permission, now),
      ]);
      return [historyOf(model), states.filter(([, state]) => state !== "none")];
    });
    // The matcher takes longer than all the rest, and differences are rare.
    if (JSON.stringify(shown) !== JSON.stringify(modelled)) expect(shown).toEqual(modelled);
  }

  /** Compares the answers of the API at the end. */
  async finish(): Promise<void> {
    const now = this.now();
    for (const [index, { id }] of this.client.sandbox.consents.list().entries()) {
      const { data } = (await this.client.get("bank", id)).json;
      const model = this.model[index] as ModelConsent;
      expect([data.status, data.history]).toEqual([statusOf(model), historyOf(model)]);
    }
    const { data, page } = (await this.client.attestations("bank")).json;
    const grantedAt = ({ history }: ModelConsent) =>
      history.find(({ status }) => status === "granted")?.at ?? 0;
    const existing = [...this.model]
      .sort((one, other) => grantedAt(one) - grantedAt(other))
      .flatMap((model) =>
        model.permissions.filter((permission) => attestationOf(model, permission, now) !== "none"),
      );
    expect(page.total).toBe(existing.length);
    expect(data.map(({ type }: { type: string }) => type)).toEqual(existing.slice(0, 20));
  }
}

function historyOf({ history }: ModelConsent) {
  return history.map(({ status, at, by }) => ({ status, at: new Date(at).toISOString(), by }));
}

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

test("consent requests live as the model does, whatever the order, before and after every restart", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20, size: "max" }), async (steps) => {
      const run = new Run();
      for (const taken of steps) {
        await run.take(taken);
        run.check();
      }
      await run.finish();
    }),
    { numRuns: 500, ...propertySeed },
  );
});
