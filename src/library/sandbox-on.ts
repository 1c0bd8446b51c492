import { reportOf } from "../report/build-report.js";
import {
  type AttestationView,
  attestationsOf,
  type ConsentView,
  viewAttestation,
  viewConsent,
} from "../sandbox/consent-views.js";
import { defaultFarmerPage } from "../sandbox/farm-population.js";
import { describeFaults } from "../sandbox/faults.js";
import { changeFaults } from "../sandbox/lifecycle/change-faults.js";
import { clearRequests } from "../sandbox/lifecycle/clear-requests.js";
import { createKey } from "../sandbox/lifecycle/create-key.js";
import { type Decision, decideConsent } from "../sandbox/lifecycle/decide-consent.js";
import { advanceClock, changeClock } from "../sandbox/lifecycle/move-clock.js";
import { requireFields } from "../sandbox/lifecycle/require-fields.js";
import { requirePreview } from "../sandbox/lifecycle/require-preview.js";
import { revokeKey } from "../sandbox/lifecycle/revoke-key.js";
import { rotateKey } from "../sandbox/lifecycle/rotate-key.js";
import { suspendAttestation } from "../sandbox/lifecycle/suspend-attestation.js";
import { updateOrganization } from "../sandbox/lifecycle/update-organization.js";
import type { Runtime } from "../sandbox/runtime.js";
import { unknownSecret } from "../sandbox/scenario-keys.js";
import { scenarioSecret } from "../sandbox/secrets.js";
import { snapshotWorld } from "../sandbox/snapshot.js";
import { viewKey, viewOrganization, viewRequest } from "../sandbox/views.js";
import type { World } from "../sandbox/world.js";
import { checkFaults } from "../scenario/check-faults.js";
import { attachRuntime } from "./current-sandbox.js";
import type {
  Sandbox,
  SandboxAttestations,
  SandboxClock,
  SandboxConsents,
  SandboxFarmers,
  SandboxFaults,
  SandboxKeys,
  SandboxOrganizations,
  SandboxRequests,
} from "./sandbox.js";
import { durationOf, instantFrom, instantOf } from "./times.js";
import { fetchAnswer } from "./web-request.js";

/** A sandbox of the world that runs, whichever it is at the time. */
export function sandboxOn(runtime: Runtime): Sandbox {
  const { world } = runtime;
  const sandbox: Sandbox = {
    get name() {
      return world().name;
    },
    get seed() {
      return world().seed;
    },
    get profile() {
      return world().profile;
    },
    get assumptions() {
      const { assumptions } = world();
      return { ...assumptions, scopes: [...assumptions.scopes] };
    },
    secret: (ref) => scenarioSecret(world(), ref),
    unknownSecret: () => unknownSecret(world().seed),
    fetch: (input, init) => fetchAnswer(world, input, init),
    clock: clockOf(world),
    keys: keysOf(world),
    organizations: organizationsOf(world),
    farmers: farmersOf(world),
    consents: consentsOf(world),
    attestations: attestationsOn(world),
    faults: faultsOf(world),
    requests: requestsOf(world),
    report: () => reportOf(runtime),
    snapshot: () => snapshotWorld(world()),
    reset: runtime.reset,
  };
  return attachRuntime(sandbox, runtime);
}

function clockOf(world: () => World): SandboxClock {
  const iso = () => new Date(world().clock.now()).toISOString();
  return {
    now: iso,
    isFrozen: () => world().clock.isFrozen(),
    advance(by) {
      advanceClock(world(), durationOf(by));
      return iso();
    },
    set(to) {
      changeClock(world(), { now: instantOf(to) });
      return iso();
    },
    freeze: () => changeClock(world(), { frozen: true }),
    resume: () => changeClock(world(), { frozen: false }),
  };
}

function keysOf(world: () => World): SandboxKeys {
  const view = (ref: string) => viewKey(world().registry.key(ref), world());
  return {
    list: () => [...world().registry.keys.values()].map((entry) => viewKey(entry, world())),
    get: view,
    create({ expires, ...key }, { actor } = {}) {
      const expiry = expires === undefined ? {} : { expiresAt: instantFrom(world().clock.now(), expires) };
      const issued = createKey(world(), { ...key, ...expiry }, actor);
      return { key: view(issued.key.ref), secret: issued.secret };
    },
    rotate(ref, { overlap, as } = {}, { actor } = {}) {
      const rotation = {
        ...(overlap !== undefined && { overlap: durationOf(overlap) }),
        ...(as !== undefined && { as }),
      };
      const issued = rotateKey(world(), ref, rotation, actor);
      return { key: view(issued.key.ref), secret: issued.secret };
    },
    revoke(ref, { actor } = {}) {
      revokeKey(world(), ref, actor);
      return view(ref);
    },
  };
}

function organizationsOf(world: () => World): SandboxOrganizations {
  return {
    list: () =>
      [...world().registry.organizations.values()].map((entry) => viewOrganization(entry.organization)),
    get: (ref) => viewOrganization(world().registry.organization(ref).organization),
    update: (ref, change, { actor } = {}) =>
      viewOrganization(updateOrganization(world(), ref, change, actor)),
  };
}

function faultsOf(world: () => World): SandboxFaults {
  const list = () => describeFaults(world().faults);
  return {
    list,
    set(faults) {
      changeFaults(world(), checkFaults(faults));
      return list();
    },
  };
}

function requestsOf(world: () => World): SandboxRequests {
  return {
    list: (query) => world().journal.list(query).map(viewRequest),
    total: () => world().journal.total(),
    clear: () => clearRequests(world()),
  };
}

/** The farmers of the world that runs at the time. */
export function farmersOf(world: () => World): SandboxFarmers {
  return {
    get count() {
      return world().farmers.count;
    },
    at: (index) => world().farmers.at(index),
    get: (id) => world().farmers.get(id),
    list({ offset = 0, limit = defaultFarmerPage } = {}) {
      requireFields("list farmers", { offset: countProblem(offset), limit: countProblem(limit) });
      return world().farmers.list({ offset, limit });
    },
  };
}

function countProblem(value: unknown): string | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number from 0";
}

/** The consent requests of the world that runs at the time. */
export function consentsOf(world: () => World): SandboxConsents {
  const decide = (decision: Decision) => (id: string) => {
    const entry = decideConsent(world(), id, decision);
    return viewConsent(entry, world());
  };
  return {
    list(): ConsentView[] {
      const running = world();
      requirePreview(running);
      return running.consents.all.map((entry) => viewConsent(entry, running));
    },
    grant: decide("grant"),
    reject: decide("reject"),
    revoke: decide("revoke"),
  };
}

/** The attestations of the world that runs at the time. */
export function attestationsOn(world: () => World): SandboxAttestations {
  const suspend = (suspended: boolean) => (id: string) => {
    const place = suspendAttestation(world(), id, suspended);
    return viewAttestation(place, world()) as AttestationView;
  };
  return {
    list() {
      const running = world();
      requirePreview(running);
      const now = running.clock.now();
      return attestationsOf(running.consents.all, now).flatMap(
        (place) => viewAttestation(place, running, now) ?? [],
      );
    },
    suspend: suspend(true),
    resume: suspend(false),
  };
}
