import { sha256 as digestOf } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { endpointsIn } from "../api/endpoints.js";
import { makeFarmers } from "../farmers/make-farmers.js";
import { clientReport } from "../report/report.js";
import type { Profile } from "../rules/assumptions.js";
import { SandboxError } from "../rules/errors.js";
import { type Instant, isoTime } from "../rules/time.js";
import { requireInstant } from "../rules/time-input.js";
import { checkValue, requireFields, requireKnownOptions } from "../rules/validation.js";
import { currentRun, type SandboxRun } from "../runs/run-writer.js";
import { type Fault, writtenFaults } from "../sandbox/active-faults.js";
import { defaultFarmerPage } from "../sandbox/farmer-records/farmer-list.js";
import { operations, runDue } from "../sandbox/operations/operations.js";
import type { Platform, SandboxState } from "../sandbox/sandbox-state.js";
import { secretFor } from "../sandbox/secrets.js";
import { snapshotSandbox } from "../sandbox/snapshot.js";
import { checkedOptions, restartSandbox, startSandbox } from "../sandbox/start-sandbox.js";
import {
  expectRequests,
  listRequests,
  viewAssumptions,
  viewClock,
  viewKey,
  viewKeys,
  viewOrganization,
  viewOrganizations,
} from "../sandbox/views.js";
import {
  actingAs,
  checkInput,
  expectationQuery,
  inputShapes,
  requestQuery,
} from "../scenario/format/inputs.js";
import { libraryNotation, valueNotation } from "../scenario/format/notations.js";
import { type LoadedScenario, resolveSource } from "../scenario/parse-scenario.js";
import { snakeCase } from "../schema/json.js";
import { quote } from "../schema/words.js";
import { realTime } from "./real-time.js";
import type {
  ActingAs,
  OrganizationRef,
  Sandbox,
  ScenarioKeyRef,
  ScenarioSource,
  WithKnownFields,
} from "./sandbox.js";
import { fetchResponse } from "./web-request.js";

/** The member of a sandbox with its state. Registered globally, so that the ES module build and the CommonJS build accept each other's sandboxes. */
const stateKey = Symbol.for("svc-sandbox.state");

/** Options of `createSandbox`. */
export interface SandboxOptions<Source extends ScenarioSource = ScenarioSource> {
  /** A bundled name, or a scenario as a value. Default: `key-states`. */
  readonly scenario?: Source;
  /** Default: the scenario's, or 1. */
  readonly seed?: number;
  /** The start of the clock. Default: the scenario's, or the real time. */
  readonly now?: Instant;
  /** Whether the clock is frozen until it is moved. Default: the scenario's, or false. */
  readonly frozen?: boolean;
  /** The set of assumptions to start with. Default: the scenario's, or `minimal`. */
  readonly profile?: Profile;
}

export const sandboxOptions = ["scenario", "seed", "now", "frozen", "profile"] as const;

/**
 * What sandboxes of `createSandbox` get from outside, in pages and in Node. Lists what `nodePlatform` has, too: a shared part
 * would load the farmers, or this file, with each start.
 */
const webPlatform: Platform = {
  ...realTime,
  sha256: sha256Hex,
  // Wrapped, so that CommonJS loads the module with the first call.
  farmers: (settings) => makeFarmers(settings),
  endpoints: endpointsIn,
  random: () => crypto.getRandomValues(new Uint32Array(1))[0] as number,
};

export function sha256Hex(text: string): string {
  // The class: its function `sha256` weighs 0.5 kB more in a page.
  return bytesToHex(digestOf(new TextEncoder().encode(text)));
}

// Four signatures for the refs that the compiler then checks: those of a scenario in the options; of `key-states`, without one;
// any text, for a loaded scenario; and those that it finds in options that fit no other one. `Omit`: without it, editors would
// suggest String's methods in a scenario. `never`: with a default for `Source`, they would suggest only that name.

/**
 * Creates a sandbox, which runs immediately. Synchronous, in Node and in browsers.
 *
 * Throws a `ScenarioError` with all problems of a scenario value, `scenario_not_found`, or `validation_failed` for an
 * invalid option.
 *
 * @example
 * const sandbox = createSandbox({ scenario: "key-states", seed: 7 });
 * const response = await sandbox.fetch("https://any.example/v1/relying-party/me", {
 *   headers: { "x-api-key": sandbox.secret("revoked") },
 * });
 * response.status; // 401
 */
export function createSandbox<const Source extends ScenarioSource>(
  options: Omit<SandboxOptions, "scenario"> & {
    readonly scenario: Source & WithKnownFields<Source, ScenarioSource>;
  },
): Sandbox<ScenarioKeyRef<Source>, OrganizationRef<Source>>;
export function createSandbox(
  options?: SandboxOptions<never>,
): Sandbox<ScenarioKeyRef<"key-states">, OrganizationRef<"key-states">>;
export function createSandbox(
  options: Omit<SandboxOptions, "scenario"> & { readonly scenario: LoadedScenario },
): Sandbox;
export function createSandbox<const Options extends SandboxOptions>(
  options: Options & { readonly scenario?: WithKnownFields<Options["scenario"], ScenarioSource> },
): Sandbox;
export function createSandbox(
  options: Omit<SandboxOptions, "scenario"> & { readonly scenario?: ScenarioSource | LoadedScenario } = {},
): Sandbox {
  requireKnownOptions("create the sandbox", options, sandboxOptions);
  const { scenario: source, ...ownOptions } = options;

  // The run of `exec` or `certify`, if any, sets what the options leave open.
  const run = currentRun();
  const { scenario, name } = chosenScenario(source, run);
  const checked = checkedOptions(ownOptions);
  const startOptions = run?.optionsFor(checked) ?? checked;

  const settings = { platform: webPlatform, run: run?.conditionedRun, name, ...startOptions };
  const sandbox = startSandbox(scenario, settings);
  run?.follow(sandbox);
  return sandboxApi(sandbox);
}

/** The scenario in the options. Default: the run's, or `key-states`. */
function chosenScenario(source: ScenarioSource | LoadedScenario | undefined, run: SandboxRun | undefined) {
  if (source !== undefined) return resolveSource(source);
  return run?.scenario ?? resolveSource("key-states");
}

/**
 * The members that users call, of a sandbox or of one that starts with its first use. Each call runs what is due first; the
 * report and a reset do not need that.
 */
export function sandboxApi(running: SandboxState | (() => SandboxState)): Sandbox {
  const current = typeof running === "function" ? running : () => running;
  const upToDate = () => {
    const sandbox = current();
    runDue(sandbox);
    return sandbox;
  };

  const sandbox: Sandbox = {
    get name() {
      return upToDate().name;
    },
    get seed() {
      return upToDate().seed;
    },
    get profile() {
      return upToDate().profile;
    },
    get assumptions() {
      const { profile: _, ...assumptions } = viewAssumptions(upToDate());
      return { ...assumptions, scopes: [...assumptions.scopes] };
    },
    secret: (ref) => secretFor(upToDate(), ref),
    fetch: (input, init) => fetchResponse(upToDate, input, init),
    clock: clockApi(upToDate),
    keys: keysApi(upToDate),
    organizations: organizationsApi(upToDate),
    farmers: farmersApi(upToDate),
    faults: faultsApi(upToDate),
    requests: requestsApi(upToDate),
    expect(expectation = {}) {
      requireKnownOptions("expect requests", expectation, ["outcome", "key", "count", "faults"]);
      const input = checkValue(
        expectationQuery,
        snakeCase(expectation),
        "Failed to expect requests",
        libraryNotation,
      );
      return expectRequests(upToDate(), input);
    },
    report: takingNothing(() => clientReport(current())),
    snapshot: takingNothing(() => snapshotSandbox(upToDate())),
    reset: takingNothing(() => restartSandbox(current())),
  };
  return Object.defineProperty(sandbox, stateKey, { get: current });
}

function clockApi(sandbox: () => SandboxState): Sandbox["clock"] {
  return {
    now: takingNothing(() => viewClock(sandbox().clock).now),
    isFrozen: takingNothing(() => sandbox().clock.isFrozen()),
    advance: (by) => operations.advance(sandbox(), { by }).now,
    set: (to) => operations.clock(sandbox(), { now: requireInstant(to) }).now,
    freeze: takingNothing(() => void operations.clock(sandbox(), { frozen: true })),
    resume: takingNothing(() => void operations.clock(sandbox(), { frozen: false })),
  };
}

function keysApi(sandbox: () => SandboxState): Sandbox["keys"] {
  return {
    list: takingNothing(() => viewKeys(sandbox())),
    get: (ref) => viewKey(sandbox().registry.key(ref), sandbox()),
    create(creation, by) {
      const body = snakeCase(withEndAsText(creation));
      const input = checkInput(inputShapes.key_creation, body, "Failed to create a key", libraryNotation);
      return operations.create_key(sandbox(), input, checkedActor(by));
    },
    rotate(key, rotation = {}, by) {
      const input = checkInput(
        inputShapes.key_rotation,
        rotation,
        "Failed to rotate the key",
        libraryNotation,
      );
      const { replacement, secret } = operations.rotate(sandbox(), { ...input, key }, checkedActor(by));
      return { key: replacement, secret };
    },
    revoke: (key, by) => operations.revoke(sandbox(), { key }, checkedActor(by)).key,
    expire(key, end, by) {
      const body = withEndAsText(end);
      const input = checkInput(
        inputShapes.key_expiry,
        body,
        "Failed to set the end of the key",
        libraryNotation,
      );
      return operations.expire(sandbox(), { key, ...input }, checkedActor(by)).key;
    },
  };
}

function organizationsApi(sandbox: () => SandboxState): Sandbox["organizations"] {
  return {
    list: takingNothing(() => viewOrganizations(sandbox())),
    get: (ref) => viewOrganization(sandbox().registry.organization(ref).organization),
    update(ref, change, by) {
      const failure = "Failed to change the organization";
      const input = checkInput(inputShapes.organization_update, snakeCase(change), failure, libraryNotation);
      return operations.organization(sandbox(), { ...input, ref }, checkedActor(by)).organization;
    },
  };
}

function farmersApi(sandbox: () => SandboxState): Sandbox["farmers"] {
  return {
    get count() {
      return sandbox().farmers.count;
    },
    at: (index) => sandbox().farmers.at(index),
    get: (id) => sandbox().farmers.get(id),
    list(page = {}) {
      requireKnownOptions("list farmers", page, ["offset", "limit"]);
      const { offset = 0, limit = defaultFarmerPage } = page;
      requireFields("list farmers", { offset: countProblem(offset), limit: countProblem(limit) });
      return sandbox().farmers.list({ offset, limit });
    },
  };
}

function faultsApi(sandbox: () => SandboxState): Sandbox["faults"] {
  const list = takingNothing(() => writtenFaults(sandbox().faults));
  return {
    list,
    set(faults) {
      const change = { faults: faults ?? null };
      const input = checkInput(
        inputShapes.faults_change,
        change,
        "Failed to change the faults",
        valueNotation,
      );
      operations.faults(sandbox(), input.faults as Fault[]);
      return list();
    },
  };
}

function requestsApi(sandbox: () => SandboxState): Sandbox["requests"] {
  return {
    list(query = {}) {
      requireKnownOptions("list the requests", query, ["limit", "outcome", "key", "probes", "faults"]);
      const input = checkValue(
        requestQuery,
        snakeCase(query),
        "Failed to list the requests",
        libraryNotation,
      );
      return listRequests(sandbox(), input);
    },
    total: takingNothing(() => sandbox().journal.total()),
    clear: takingNothing(() => operations.clear_requests(sandbox())),
  };
}

/** A function that rejects each value that it is given, because the value would do nothing. */
function takingNothing<Result>(run: () => Result): (...values: readonly unknown[]) => Result {
  return (...values) => {
    for (const value of values) {
      if (value === undefined) continue;
      requireFields("run it", { value: `${quote(value)} does nothing: leave it out` });
    }
    return run();
  };
}

/** Who acts, checked. Default: an administrator. */
function checkedActor(by: ActingAs = {}) {
  return checkInput(actingAs, by, "Failed to act", libraryNotation);
}

/** The fields of a key, whose end may be a `Date` or a number, with a text as in scenarios. Any other text, such as a duration, stays. */
function withEndAsText(fields: { readonly expires?: string | Instant }): unknown {
  // They are checked later, and may be anything.
  const { expires } = Object(fields) as typeof fields;
  if (expires === undefined || typeof expires === "string") return fields;
  return { ...fields, expires: isoTime(requireInstant(expires)) };
}

/** What is wrong with a number of farmers to skip or to list, if anything. */
function countProblem(value: unknown): string | undefined {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount ? undefined : "must be a whole number from 0";
}

/** The state of a sandbox; starts one that starts with its first use. Throws `usage` for anything else. */
export function stateOf(sandbox: Sandbox): SandboxState {
  requireSandbox(sandbox);
  return Reflect.get(sandbox, stateKey) as SandboxState;
}

/** Throws `usage` unless a value is a sandbox: otherwise, a first request would only get a 500, which looks like the service's. Starts no sandbox. */
export function requireSandbox(value: unknown): void {
  if (stateKey in Object(value)) return;
  throw new SandboxError("usage", `Expected a sandbox, found ${foundInstead(value)}.`);
}

/** Describes a value that is not a sandbox, and the fix. */
function foundInstead(value: unknown): string {
  const members = Object(value);
  if ("then" in members) return "a promise: await it";
  if ("sandbox" in members) return "an object with a sandbox: pass its sandbox";
  const found = typeof value === "function" ? "a function" : quote(value);
  return `${found}: pass what createSandbox returns, no copy`;
}
