import { reportOf } from "../report/report.js";
import { describeFaults, type Fault } from "../sandbox/faults.js";
import type { Decision } from "../sandbox/operations/consents.js";
import { requireFields, requireKnownOptions, requirePreview } from "../sandbox/operations/input.js";
import { operations } from "../sandbox/operations/operations.js";
import { attestationsOf, viewAttestation, viewConsent } from "../sandbox/preview/consent-views.js";
import { defaultFarmerPage } from "../sandbox/preview/farmers.js";
import type { Runtime } from "../sandbox/runtime.js";
import { unknownSecret } from "../sandbox/scenario-keys.js";
import { scenarioSecret } from "../sandbox/secrets.js";
import { snapshotWorld } from "../sandbox/snapshot.js";
import {
  listRequests,
  viewClock,
  viewKey,
  viewKeys,
  viewOrganization,
  viewOrganizations,
  viewRequest,
} from "../sandbox/views.js";
import { checkInput, checkRequestQuery } from "../scenario/check-input.js";
import { snakeCase } from "../schema/spelling.js";
import { captureWorld } from "./capture.js";
import { attachRuntime } from "./current-sandbox.js";
import type { Sandbox } from "./sandbox.js";
import { fetchAnswer } from "./web-request.js";

/** Makes the sandbox of a runtime; it always works on the world that runs there at the time. */
export function sandboxOn(runtime: Runtime): Sandbox {
  const { world } = runtime;
  const previewWorld = () => {
    const running = world();
    requirePreview(running);
    return running;
  };
  const decide = (decision: Decision) => (id: string) =>
    operations.consent(world(), { id, do: decision }).consent;
  const listFaults = () => describeFaults(world().faults);
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
    clock: {
      now: () => viewClock(world().clock).now,
      isFrozen: () => world().clock.isFrozen(),
      advance: (by) => operations.advance(world(), { by }).now,
      set: (now) => operations.clock(world(), { now }).now,
      freeze: () => void operations.clock(world(), { frozen: true }),
      resume: () => void operations.clock(world(), { frozen: false }),
    },
    keys: {
      list: () => viewKeys(world()),
      get: (ref) => viewKey(world().registry.key(ref), world()),
      create({ expires, ...creation }, by) {
        const input = checkInput("key_creation", snakeCase(creation), "Failed to create a key");
        return operations.create_key(world(), { ...input, expires }, by);
      },
      rotate(key, { overlap, ...rotation } = {}, by) {
        const { as } = checkInput("key_rotation", rotation, "Failed to rotate the key");
        const { replacement, secret } = operations.rotate(world(), { key, overlap, as }, by);
        return { key: replacement, secret };
      },
      revoke: (key, by) => operations.revoke(world(), { key }, by).key,
    },
    organizations: {
      list: () => viewOrganizations(world()),
      get: (ref) => viewOrganization(world().registry.organization(ref).organization),
      update(ref, change, by) {
        const failure = "Failed to change the organization";
        const input = checkInput("organization_update", snakeCase(change), failure);
        return operations.organization(world(), { ...input, ref }, by).organization;
      },
    },
    farmers: {
      get count() {
        return world().farmers.count;
      },
      at: (index) => world().farmers.at(index),
      get: (id) => world().farmers.get(id),
      list({ offset = 0, limit = defaultFarmerPage } = {}) {
        requireFields("list farmers", { offset: countProblem(offset), limit: countProblem(limit) });
        return world().farmers.list({ offset, limit });
      },
    },
    consents: {
      list() {
        const running = previewWorld();
        return running.consents.all.map((entry) => viewConsent(entry, running));
      },
      grant: decide("grant"),
      reject: decide("reject"),
      revoke: decide("revoke"),
    },
    attestations: {
      list() {
        const running = previewWorld();
        const now = running.clock.now();
        return attestationsOf(running.consents.all, now).flatMap(
          (place) => viewAttestation(place, running, now) ?? [],
        );
      },
      suspend: (id) => operations.attestation(world(), { id, do: "suspend" }).attestation,
      resume: (id) => operations.attestation(world(), { id, do: "resume" }).attestation,
    },
    faults: {
      list: listFaults,
      set(faults) {
        const input = checkInput("faults_change", { faults: faults ?? null }, "Failed to change the faults");
        operations.faults(world(), input.faults as Fault[]);
        return listFaults();
      },
    },
    requests: {
      list(query = {}) {
        requireKnownOptions("list the requests", query, ["limit", "pathId", "key"]);
        const input = checkRequestQuery(snakeCase(query), "Failed to list the requests");
        return listRequests(world(), input).map(viewRequest);
      },
      total: () => world().history.total(),
      clear: () => operations.clear_requests(world()),
    },
    report: () => reportOf(runtime),
    capture(options = {}) {
      requireKnownOptions("capture the requests", options, ["from", "to", "key"]);
      return captureWorld(world(), options);
    },
    snapshot: () => snapshotWorld(world()),
    reset: runtime.reset,
  };
  return attachRuntime(sandbox, runtime);
}

function countProblem(value: unknown): string | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number from 0";
}
