import { clientReport } from "../report/report.js";
import { SandboxError } from "../rules/errors.js";
import { type Instant, isoTime } from "../rules/time.js";
import { checkedCopy, requireKnownOptions, throwIfProblems } from "../rules/validation.js";
import { type Fault, writtenFaults } from "../sandbox/active-faults.js";
import { defaultFarmerPage } from "../sandbox/farmer-records/farmer-list.js";
import { operations } from "../sandbox/operations/operations.js";
import { runDue } from "../sandbox/operations/run-due.js";
import { expectRequests, listRequests } from "../sandbox/request-queries.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { secretToSend } from "../sandbox/secrets.js";
import { snapshotSandbox } from "../sandbox/snapshot.js";
import { restartSandbox } from "../sandbox/start-sandbox.js";
import { requireInstant } from "../sandbox/time-input.js";
import {
  viewAssumptions,
  viewClock,
  viewKey,
  viewKeys,
  viewOrganization,
  viewOrganizations,
} from "../sandbox/views.js";
import { checkInput } from "../scenario/format/check-input.js";
import { actorQuery, expectationQuery, inputShapes, requestQuery } from "../scenario/format/inputs.js";
import { libraryNotation, valueNotation } from "../scenario/format/notations.js";
import type { Shape, ValueOf } from "../schema/shape.js";
import { membersToSnakeCase } from "../schema/spelling.js";
import { quote } from "../schema/words.js";
import { fetchResponse } from "./fetch-response.js";
import type { ActingAs, Sandbox } from "./sandbox.js";

/** The member of a sandbox with its state. Registered globally, so that the ES module build and the CommonJS build accept each other's sandboxes. */
const stateKey = Symbol.for("svc-sandbox.state");

/**
 * The members that users call. `state` returns the state of the sandbox; the first call may start it. All members but the report and
 * a reset run what is due first.
 */
export function sandboxApi(state: () => SandboxState): Sandbox {
  const upToDate = () => {
    const sandbox = state();
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
      const names = ["outcome", "key", "count", "faults"];
      const query = checkQuery(expectationQuery, expectation, names, "expect requests");
      return expectRequests(upToDate(), query);
    },
    report: rejectingArguments("report", () => clientReport(state())),
    snapshot: rejectingArguments("snapshot", () => snapshotSandbox(upToDate())),
    reset: rejectingArguments("reset", () => restartSandbox(state())),
  };
  return Object.defineProperty(sandbox, stateKey, { get: state });
}

function clockApi(upToDate: () => SandboxState): Sandbox["clock"] {
  return {
    now: rejectingArguments("clock.now", () => viewClock(upToDate().clock).now),
    isFrozen: rejectingArguments("clock.isFrozen", () => upToDate().clock.isFrozen()),
    advance: (by) => operations.advance(upToDate(), { by }).now,
    set: (to) => operations.clock(upToDate(), { now: requireInstant(to) }).now,
    freeze: rejectingArguments("clock.freeze", () => void operations.clock(upToDate(), { frozen: true })),
    resume: rejectingArguments("clock.resume", () => void operations.clock(upToDate(), { frozen: false })),
  };
}

function keysApi(upToDate: () => SandboxState): Sandbox["keys"] {
  return {
    list: rejectingArguments("keys.list", () => viewKeys(upToDate())),
    get: (ref) => viewKey(upToDate().registry.key(ref), upToDate()),
    create(creation, by) {
      const body = membersToSnakeCase(withExpiryAsText(creation));
      const input = checkArgument(inputShapes.key_creation, body, "create a key");
      return operations.create_key(upToDate(), input, checkedActor(by));
    },
    rotate(key, rotation = {}, by) {
      const input = checkArgument(inputShapes.key_rotation, rotation, "rotate the key");
      const { replacement, secret } = operations.rotate(upToDate(), { ...input, key }, checkedActor(by));
      return { key: replacement, secret };
    },
    revoke: (key, by) => operations.revoke(upToDate(), { key }, checkedActor(by)).key,
    expire(key, end, by) {
      const body = withExpiryAsText(end);
      const input = checkArgument(inputShapes.key_expiry, body, "set the end of the key");
      return operations.expire(upToDate(), { key, ...input }, checkedActor(by)).key;
    },
  };
}

function organizationsApi(upToDate: () => SandboxState): Sandbox["organizations"] {
  return {
    list: rejectingArguments("organizations.list", () => viewOrganizations(upToDate())),
    get: (ref) => viewOrganization(upToDate().registry.organization(ref).organization, upToDate()),
    update(ref, change, by) {
      const body = membersToSnakeCase(change);
      const input = checkArgument(inputShapes.organization_update, body, "change the organization");
      return operations.organization(upToDate(), { ...input, ref }, checkedActor(by)).organization;
    },
  };
}

function farmersApi(upToDate: () => SandboxState): Sandbox["farmers"] {
  return {
    get count() {
      return upToDate().farmers.count;
    },
    at: (index) => upToDate().farmers.at(index),
    get: (id) => upToDate().farmers.get(id),
    list(page = {}) {
      requireKnownOptions("list farmers", page, ["offset", "limit"]);
      const { offset = 0, limit = defaultFarmerPage } = page;
      throwIfProblems("list farmers", { offset: countProblem(offset), limit: countProblem(limit) });
      return upToDate().farmers.list({ offset, limit });
    },
  };
}

function faultsApi(upToDate: () => SandboxState): Sandbox["faults"] {
  const list = rejectingArguments("faults.list", () => writtenFaults(upToDate().faults));
  return {
    list,
    set(faults) {
      // Faults are written as in scenarios, so that errors have those names.
      const change = { faults: faults ?? null };
      const input = checkInput(inputShapes.faults_change, change, "change the faults", valueNotation);
      operations.faults(upToDate(), input.faults as Fault[]);
      return list();
    },
  };
}

function requestsApi(upToDate: () => SandboxState): Sandbox["requests"] {
  return {
    list(options = {}) {
      const names = ["limit", "outcome", "key", "probes", "faults"];
      const query = checkQuery(requestQuery, options, names, "list the requests");
      return listRequests(upToDate(), query);
    },
    total: rejectingArguments("requests.total", () => upToDate().journal.total()),
    clear: rejectingArguments("requests.clear", () => operations.clear_requests(upToDate())),
  };
}

/** A function that rejects any value, because the value would do nothing. */
function rejectingArguments<Result>(
  name: string,
  run: () => Result,
): (...values: readonly unknown[]) => Result {
  return (...values) => {
    if (values.every((value) => value === undefined)) return run();
    throw new SandboxError("validation_failed", `${name} has no options. Call it without a value.`);
  };
}

/** A copy of an argument, whose members have the names of the shape already. Throws `validation_failed` with the names of the library. */
function checkArgument<Of extends Shape>(shape: Of, argument: unknown, attempt: string): ValueOf<Of> {
  return checkInput(shape, argument, attempt, libraryNotation);
}

/** A copy of options as a query of the journal, whose members have these names. Throws `validation_failed`. */
function checkQuery<Of extends Shape>(
  shape: Of,
  options: object,
  names: readonly string[],
  attempt: string,
): ValueOf<Of> {
  requireKnownOptions(attempt, options, names);
  return checkedCopy(shape, membersToSnakeCase(options), attempt, libraryNotation);
}

/** Who acts, checked. Default: an administrator. */
function checkedActor(by: ActingAs = {}) {
  return checkArgument(actorQuery, by, "act");
}

/** The fields of a key, whose end may be a `Date` or a number, with a text as in scenarios. Any other text, such as a duration, stays. */
function withExpiryAsText(fields: { readonly expires?: string | Instant }): unknown {
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
