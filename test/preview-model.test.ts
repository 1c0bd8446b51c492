import fc from "fast-check";
import { expect, test } from "vitest";
import { handle } from "../src/api/handle.js";
import { bodyOf } from "../src/api/request-input.js";
import { type Permission, permissions } from "../src/domain/attestation.js";
import { consentHistory } from "../src/domain/consent.js";
import { SandboxError } from "../src/domain/errors.js";
import { nodePlatform } from "../src/node/platform.js";
import {
  type Decision,
  decideConsent,
  suspendAttestation,
} from "../src/sandbox/operations/decide-consent.js";
import { stateOf } from "../src/sandbox/preview/consent-views.js";
import { placesOf } from "../src/sandbox/preview/consents.js";
import { scenarioSecret } from "../src/sandbox/secrets.js";
import { snapshotWorld } from "../src/sandbox/snapshot.js";
import { createWorld, type World } from "../src/sandbox/world.js";
import { checkScenario } from "../src/scenario/check-scenario.js";
import { farmerId } from "../src/synthetic/farmer-id.js";
import {
  attestationOf,
  live,
  type ModelConsent,
  modelConsent,
  move,
  statusOf,
} from "./model/consent-model.js";
import { openTestWorld } from "./support/doors.js";
import { attestationsPath, consentsPath, purpose } from "./support/preview-client.js";
import { previewScenario } from "./support/preview-scenario.js";
import { propertySeed } from "./support/property-seed.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Where the instants are at which something happens, and one millisecond on either side of them. */
const spans = [0, 1, minute, 2 * hour, 7 * day, 30 * day, 90 * day, 365 * day]
  .flatMap((span) => [span - 1, span, span + 1])
  .filter((span) => span >= 0);

type Step =
  | {
      readonly do: "ask";
      readonly farmer: number;
      readonly lasts: number;
      readonly permissions: Permission[];
    }
  | { readonly do: Decision | "cancel"; readonly which: number }
  | { readonly do: "suspend" | "resume"; readonly which: number }
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
      permissions: fc.subarray([...permissions], { minLength: 1 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("grant", "reject", "revoke", "cancel"), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("suspend", "resume"), which }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("advance" as const), by: fc.constantFrom(...spans) }) },
  { weight: 1, arbitrary: fc.constant({ do: "restart" as const }) },
);

const scenario = checkScenario(previewScenario);
const apiKey = scenarioSecret(openTestWorld(scenario), "bank");

/** A world, and the model that says how it has to stand. */
class Run {
  world: World = openTestWorld(scenario);
  readonly model: ModelConsent[] = [];

  call(method: string, path: string, body?: object) {
    const { answer } = handle(this.world, {
      method,
      path,
      apiKey,
      content: {
        query: "",
        contentType: "application/json",
        idempotencyKey: undefined,
        body: bodyOf(new TextEncoder().encode(body === undefined ? "" : JSON.stringify(body))),
      },
    });
    return { status: answer.status, json: JSON.parse(answer.body) };
  }

  take(taken: Step): void {
    const { clock, consents } = this.world;
    const now = clock.now();
    if (taken.do === "advance") clock.advance(taken.by);
    else if (taken.do === "restart") this.restart();
    else if (taken.do === "ask") this.ask(taken, now);
    else if (consents.all.length > 0) this.change(taken, taken.which % consents.all.length, now);
  }

  restart(): void {
    const snapshot = JSON.parse(JSON.stringify(snapshotWorld(this.world)));
    this.world = createWorld(checkScenario(snapshot), { platform: nodePlatform });
    expect(snapshotWorld(this.world)).toEqual(snapshot);
  }

  ask({ farmer, lasts, permissions: asked }: Extract<Step, { do: "ask" }>, now: number): void {
    const { status } = this.call("POST", consentsPath, {
      farmer_id: farmerId(this.world.seed, farmer),
      purpose,
      permissions: asked,
      expires_at: new Date(now + lasts).toISOString(),
    });
    expect(status).toBe(201);
    this.model.push(modelConsent(farmer, now, now + lasts, asked));
  }

  change(taken: { readonly do: string; readonly which: number }, index: number, now: number): void {
    const entry = this.world.consents.all[index] as World["consents"]["all"][number];
    const model = this.model[index] as ModelConsent;
    if (taken.do === "suspend" || taken.do === "resume") {
      const [place] = placesOf(entry);
      live(model, now);
      const suspends = taken.do === "suspend";
      const wanted = suspends ? "active" : "suspended";
      const permission = place?.permission as Permission;
      const could = attestationOf(model, permission, now) === wanted;
      expect(
        done(() =>
          suspendAttestation(this.world, { id: place?.id as string, do: suspends ? "suspend" : "resume" }),
        ),
      ).toBe(could);
      if (could) model.suspended.set(permission, suspends);
    } else if (taken.do === "cancel") {
      const { status } = this.call("POST", `${consentsPath}/${entry.id}/cancel`);
      expect(status).toBe(move(model, "cancel", now) ? 200 : 409);
    } else {
      const could = move(model, taken.do, now);
      expect(done(() => decideConsent(this.world, { id: entry.id, do: taken.do as Decision }))).toBe(could);
    }
  }

  check(): void {
    const now = this.world.clock.now();
    for (const [index, model] of this.model.entries()) {
      live(model, now);
      const entry = this.world.consents.all[index] as World["consents"]["all"][number];
      expect(consentHistory(entry.record, now)).toEqual(model.history);
      for (const place of placesOf(entry)) {
        const state = stateOf(place, this.world, now);
        const found = state === undefined ? "none" : (state.validity ?? state.production);
        expect([index, place.permission, found]).toEqual([
          index,
          place.permission,
          attestationOf(model, place.permission, now),
        ]);
      }
    }
  }

  /** What a client sees at the end, and whether the past is what it was. */
  finish(): void {
    const now = this.world.clock.now();
    for (const [index, model] of this.model.entries()) {
      const entry = this.world.consents.all[index] as World["consents"]["all"][number];
      const { json } = this.call("GET", `${consentsPath}/${entry.id}`);
      const history = model.history.map(({ status, at, by }) => ({
        status,
        at: new Date(at).toISOString(),
        by,
      }));
      expect([json.data.status, json.data.history]).toEqual([statusOf(model), history]);
      for (const [position, { at }] of model.history.entries()) {
        expect(consentHistory(entry.record, at).length).toBeGreaterThan(position);
        const before = model.history.filter((one) => one.at < at);
        if (position > 0)
          expect(consentHistory(entry.record, at - 1).slice(0, before.length)).toEqual(before);
      }
    }
    const { json } = this.call("GET", attestationsPath);
    const grantedAt = (model: (typeof this.model)[number]) =>
      model.history.find(({ status }) => status === "granted")?.at ?? 0;
    const inOrder = [...this.model].sort((one, other) => grantedAt(one) - grantedAt(other));
    const there = inOrder.flatMap((model) =>
      model.permissions.filter((permission) => attestationOf(model, permission, now) !== "none"),
    );
    expect([json.page.total, json.data.map(({ type }: { type: string }) => type)]).toEqual([
      there.length,
      there.slice(0, 20),
    ]);
  }
}

/** Whether the dashboard did it; anything but its refusal is thrown. */
function done(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (
      error instanceof SandboxError &&
      /^(consent_not_open|attestation_not_open|unknown_ref)$/.test(error.code)
    )
      return false;
    throw error;
  }
}

test("whatever happens in whatever order, consent requests live as the model does, before and after every restart", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20, size: "max" }), (steps) => {
      const run = new Run();
      for (const taken of steps) {
        run.take(taken);
        run.check();
      }
      run.finish();
    }),
    { numRuns: 10_000, ...propertySeed },
  );
}, 300_000);
