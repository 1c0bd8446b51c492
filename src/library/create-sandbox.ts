import type { Edge } from "../sandbox/edge.js";
import { createKey } from "../sandbox/lifecycle/create-key.js";
import { revokeKey } from "../sandbox/lifecycle/revoke-key.js";
import { rotateKey } from "../sandbox/lifecycle/rotate-key.js";
import { updateOrganization } from "../sandbox/lifecycle/update-organization.js";
import { unknownSecret } from "../sandbox/secrets.js";
import { snapshotWorld } from "../sandbox/snapshot.js";
import { viewKey, viewOrganization, viewRequest } from "../sandbox/views.js";
import { createWorld, scenarioSecret, type World } from "../sandbox/world.js";
import { resolveSource } from "../scenario/resolve-source.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { answerWebRequest } from "./answer-web-request.js";
import { holdWorld } from "./held-world.js";
import type { KeyRef, OrganizationRef, ScenarioSource } from "./refs.js";
import type {
  Instant,
  Sandbox,
  SandboxClock,
  SandboxKeys,
  SandboxOrganizations,
  SandboxRequests,
} from "./sandbox.js";
import { durationOf, instantFrom, instantOf } from "./times.js";
import { webEdge } from "./web-edge.js";

/** How to create a sandbox. */
export interface SandboxOptions<Source extends ScenarioSource = ScenarioSource> {
  /** A bundled name, or a scenario as a value. Default: `key-states`. */
  readonly scenario?: Source;
  /** Default: the scenario's, else 1. */
  readonly seed?: number;
  /** When the clock starts. Default: the scenario's, else the real time. */
  readonly now?: Instant;
  /** Whether the clock stands still until it is moved. Default: the scenario's, else false. */
  readonly frozen?: boolean;
}

/**
 * Creates a sandbox: one world, running at once. Synchronous, in Node and in browsers.
 *
 * Throws a `ScenarioError` with every problem of a scenario value, or `scenario_not_found`.
 *
 * @example
 * const sandbox = createSandbox({ scenario: "key-states", seed: 7 });
 * const response = await sandbox.fetch("https://any.example/v1/relying-party/me", {
 *   headers: { "x-api-key": sandbox.secret("revoked") },
 * });
 * response.status; // 401
 */
export function createSandbox<const Source extends ScenarioSource = "key-states">(
  options: SandboxOptions<Source> = {},
): Sandbox<KeyRef<Source>, OrganizationRef<Source>> {
  return createSandboxAt(webEdge, options) as Sandbox<KeyRef<Source>, OrganizationRef<Source>>;
}

/** The same on another edge. */
export function createSandboxAt(edge: Edge, options: SandboxOptions): Sandbox {
  const { scenario, name } = resolveSource(options.scenario ?? "key-states");
  return createSandboxOf(scenario, { ...options, edge, name });
}

/** The same from a scenario that is checked already. */
export function createSandboxOf(
  scenario: Scenario,
  options: Omit<SandboxOptions, "scenario"> & { readonly edge: Edge; readonly name: string },
): Sandbox {
  const start = () =>
    createWorld(scenario, {
      edge: options.edge,
      name: options.name,
      ...(options.seed !== undefined && { seed: options.seed }),
      ...(options.now !== undefined && { now: instantOf(options.now) }),
      ...(options.frozen !== undefined && { frozen: options.frozen }),
    });
  let world = start();
  const current = () => world;

  const sandbox: Sandbox = {
    get name() {
      return world.name;
    },
    get seed() {
      return world.seed;
    },
    get assumptions() {
      return world.assumptions;
    },
    secret: (ref) => scenarioSecret(world, ref),
    unknownSecret: () => unknownSecret(world.seed),
    async fetch(input, init) {
      const request = new Request(input, init);
      request.signal.throwIfAborted();
      return answerWebRequest(world, request);
    },
    clock: clockOf(current),
    keys: keysOf(current),
    organizations: organizationsOf(current),
    requests: requestsOf(current),
    snapshot: () => snapshotWorld(world),
    reset() {
      world = start();
    },
  };
  return holdWorld(sandbox, current);
}

function clockOf(world: () => World): SandboxClock {
  const iso = () => new Date(world().clock.now()).toISOString();
  return {
    now: iso,
    isFrozen: () => world().clock.isFrozen(),
    advance(by) {
      world().clock.advance(durationOf(by));
      return iso();
    },
    set(to) {
      world().clock.set(instantOf(to));
      return iso();
    },
    freeze: () => world().clock.freeze(),
    resume: () => world().clock.resume(),
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

function requestsOf(world: () => World): SandboxRequests {
  return {
    list: (query) => world().journal.list(query).map(viewRequest),
    total: () => world().journal.total(),
    clear: () => world().journal.clear(),
  };
}
