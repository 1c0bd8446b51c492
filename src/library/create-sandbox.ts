import { endpointsIn } from "../api/endpoints.js";
import { clientReport } from "../report/report.js";
import { SandboxError } from "../rules/errors.js";
import { type Instant, isoTime } from "../rules/time.js";
import { checkValue, requireKnownOptions, throwIfProblems } from "../rules/validation.js";
import type { SandboxRun } from "../runs/current-run.js";
import { type Fault, writtenFaults } from "../sandbox/active-faults.js";
import { defaultFarmerPage, type FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";
import { operations, runDue } from "../sandbox/operations/operations.js";
import { expectRequests, listRequests } from "../sandbox/request-queries.js";
import type { Platform, SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import { secretToSend } from "../sandbox/secrets.js";
import { snapshotSandbox } from "../sandbox/snapshot.js";
import { checkedStart, requireStepsAhead, restartSandbox, startSandbox } from "../sandbox/start-sandbox.js";
import { requireInstant } from "../sandbox/time-input.js";
import {
  viewAssumptions,
  viewClock,
  viewKey,
  viewKeys,
  viewOrganization,
  viewOrganizations,
} from "../sandbox/views.js";
import {
  actorQuery,
  checkInput,
  expectationQuery,
  inputShapes,
  requestQuery,
} from "../scenario/format/inputs.js";
import { libraryNotation, valueNotation } from "../scenario/format/notations.js";
import { type LoadedScenario, type NamedScenario, resolveSource } from "../scenario/parse-scenario.js";
import { membersToSnakeCase } from "../schema/spelling.js";
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
import { sha256Hex } from "./sha256.js";
import { fetchResponse } from "./web-request.js";

/** The member of a sandbox with its state. Registered globally, so that the ES module build and the CommonJS build accept each other's sandboxes. */
const stateKey = Symbol.for("svc-sandbox.state");

/** Options of `createSandbox`. */
export interface SandboxOptions<Source extends ScenarioSource = ScenarioSource> extends StartOptions {
  /** A bundled name, or a scenario as a value. Default: `key-states`. */
  readonly scenario?: Source;
}

export const sandboxOptions = ["scenario", "seed", "now", "frozen", "profile"] as const;

// The signatures are for the refs that the compiler then checks, each for another source of them. An editor suggests fields
// only if an option is as plain as here: with `SandboxOptions` in place of `Omit`, it would suggest String's methods.

/** The signatures of `createSandbox`. */
export interface CreateSandbox {
  // The refs of the scenario in the options.
  /**
   * Creates a sandbox, whose clock starts with its first use. Synchronous, in Node and in browsers.
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
  <const Source extends ScenarioSource>(
    options: Omit<SandboxOptions, "scenario"> & {
      readonly scenario: Source & WithKnownFields<Source, ScenarioSource>;
    },
  ): Sandbox<ScenarioKeyRef<Source>, OrganizationRef<Source>>;
  // Without a scenario, those of `key-states`. `never`: a default of `Source` would be the only name that editors suggest.
  (options?: SandboxOptions<never>): Sandbox<ScenarioKeyRef<"key-states">, OrganizationRef<"key-states">>;
  // Of a loaded scenario, any text.
  (options: Omit<SandboxOptions, "scenario"> & { readonly scenario: LoadedScenario }): Sandbox;
  // Of options that a variable has, any text.
  <const Options extends SandboxOptions>(
    options: Options & { readonly scenario?: WithKnownFields<Options["scenario"], ScenarioSource> },
  ): Sandbox;
}

/** What the entry points for Node and for pages give each sandbox, because each has its own. */
interface EntryPoint {
  readonly farmers: FarmerMaker;
  /** The run of `exec` or `certify` that this process belongs to, if any. */
  readonly currentRun: () => SandboxRun | undefined;
}

/** Makes `createSandbox` for an entry point. */
export function sandboxCreator({ farmers, currentRun }: EntryPoint): CreateSandbox {
  const platform: Platform = { ...webPlatform, farmers };

  function createSandbox(options: SandboxOptions | OptionsOfLoaded = {}): Sandbox {
    requireKnownOptions("create the sandbox", options, sandboxOptions);
    const { scenario: source, ...startOptions } = options;

    // The run of `exec` or `certify`, if any, sets what the options leave open.
    const run = currentRun();
    const scenario = chosenScenario(source, run);
    const completed = run?.optionsFor(startOptions) ?? startOptions;

    const start = checkedStart(scenario, completed, { platform, run: run?.conditionedRun });
    requireStepsAhead(start);

    // It starts with its first use: while modules load, the wall clock of some runtimes shows another time.
    let running: SandboxState | undefined;
    return sandboxApi(() => {
      if (running === undefined) {
        running = startSandbox(start);
        run?.follow(running);
      }
      return running;
    });
  }
  return createSandbox as CreateSandbox; // only types have the refs
}

/** The options with a loaded scenario. */
type OptionsOfLoaded = Omit<SandboxOptions, "scenario"> & { readonly scenario: LoadedScenario };

/** The scenario in the options. Default: the run's, or `key-states`. */
function chosenScenario(
  source: ScenarioSource | LoadedScenario | undefined,
  run: SandboxRun | undefined,
): NamedScenario {
  if (source !== undefined) return resolveSource(source);
  return run?.scenario ?? resolveSource("key-states");
}

/** What each sandbox of `createSandbox` gets from this runtime, in pages and in Node. */
const webPlatform = {
  ...realTime,
  sha256: sha256Hex,
  endpoints: endpointsIn,
  random: () => crypto.getRandomValues(new Uint32Array(1))[0] as number,
};

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
    secret: (ref) => secretToSend(upToDate(), ref),
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
        membersToSnakeCase(expectation),
        "Failed to expect requests",
        libraryNotation,
      );
      return expectRequests(upToDate(), input);
    },
    report: takingNothing("report", () => clientReport(current())),
    snapshot: takingNothing("snapshot", () => snapshotSandbox(upToDate())),
    reset: takingNothing("reset", () => restartSandbox(current())),
  };
  return Object.defineProperty(sandbox, stateKey, { get: current });
}

function clockApi(sandbox: () => SandboxState): Sandbox["clock"] {
  return {
    now: takingNothing("clock.now", () => viewClock(sandbox().clock).now),
    isFrozen: takingNothing("clock.isFrozen", () => sandbox().clock.isFrozen()),
    advance: (by) => operations.advance(sandbox(), { by }).now,
    set: (to) => operations.clock(sandbox(), { now: requireInstant(to) }).now,
    freeze: takingNothing("clock.freeze", () => void operations.clock(sandbox(), { frozen: true })),
    resume: takingNothing("clock.resume", () => void operations.clock(sandbox(), { frozen: false })),
  };
}

function keysApi(sandbox: () => SandboxState): Sandbox["keys"] {
  return {
    list: takingNothing("keys.list", () => viewKeys(sandbox())),
    get: (ref) => viewKey(sandbox().registry.key(ref), sandbox()),
    create(creation, by) {
      const body = membersToSnakeCase(withEndAsText(creation));
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
    list: takingNothing("organizations.list", () => viewOrganizations(sandbox())),
    get: (ref) => viewOrganization(sandbox().registry.organization(ref).organization),
    update(ref, change, by) {
      const failure = "Failed to change the organization";
      const input = checkInput(
        inputShapes.organization_update,
        membersToSnakeCase(change),
        failure,
        libraryNotation,
      );
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
      throwIfProblems("list farmers", { offset: countProblem(offset), limit: countProblem(limit) });
      return sandbox().farmers.list({ offset, limit });
    },
  };
}

function faultsApi(sandbox: () => SandboxState): Sandbox["faults"] {
  const list = takingNothing("faults.list", () => writtenFaults(sandbox().faults));
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
        membersToSnakeCase(query),
        "Failed to list the requests",
        libraryNotation,
      );
      return listRequests(sandbox(), input);
    },
    total: takingNothing("requests.total", () => sandbox().journal.total()),
    clear: takingNothing("requests.clear", () => operations.clear_requests(sandbox())),
  };
}

const moveInstead = "To move the clock, call clock.set.";
const filterInstead = "Filter its result.";

/** The functions without options, and what to do instead. */
const insteadOfOptions = {
  report: filterInstead,
  snapshot: filterInstead,
  reset: "For other options, call createSandbox.",
  "clock.now": moveInstead,
  "clock.isFrozen": "To freeze the clock, call clock.freeze.",
  "clock.freeze": moveInstead,
  "clock.resume": moveInstead,
  "keys.list": filterInstead,
  "organizations.list": filterInstead,
  "faults.list": filterInstead,
  "requests.total": "To count some, call expect.",
  "requests.clear": "It clears all.",
} as const;

/** A function that rejects any value, because the value would do nothing. */
function takingNothing<Result>(
  name: keyof typeof insteadOfOptions,
  run: () => Result,
): (...values: readonly unknown[]) => Result {
  return (...values) => {
    if (values.every((value) => value === undefined)) return run();
    throw new SandboxError("validation_failed", `${name} has no options. ${insteadOfOptions[name]}`);
  };
}

/** Who acts, checked. Default: an administrator. */
function checkedActor(by: ActingAs = {}) {
  return checkInput(actorQuery, by, "Failed to act", libraryNotation);
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
  const description = typeof value === "function" ? "a function" : quote(value);
  return `${description}: pass what createSandbox returns, no copy`;
}
