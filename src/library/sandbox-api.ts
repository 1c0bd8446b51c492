import { clientReport } from "../report/report.js";
import { SandboxError } from "../rules/errors.js";
import { type Instant, isoTime } from "../rules/time.js";
import { checkedCopy, checkInput, requireKnownOptions, throwIfProblems } from "../rules/validation.js";
import { requireInstant } from "../sandbox/clock.js";
import { defaultFarmerPage } from "../sandbox/farmer-records/farmer-list.js";
import { type Fault, writtenFaults } from "../sandbox/faults.js";
import {
  createKey,
  expireKey,
  revokeKey,
  rotateKey,
  updateOrganization,
} from "../sandbox/operations/key-operations.js";
import {
  advanceClock,
  changeClock,
  changeFaults,
  clearRequests,
  runDue,
} from "../sandbox/operations/operations.js";
import { listRequests } from "../sandbox/request-queries.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { secretToSend } from "../sandbox/secrets.js";
import { restartSandbox } from "../sandbox/start-sandbox.js";
import {
  viewAssumptions,
  viewClock,
  viewKey,
  viewKeys,
  viewOrganization,
  viewOrganizations,
} from "../sandbox/views.js";
import { actorQuery, inputShapes, requestQuery } from "../scenario/format/inputs.js";
import { libraryNotation, valueNotation } from "../schema/describe.js";
import type { Shape, ValueOf } from "../schema/shape.js";
import { membersToSnakeCase } from "../schema/spelling.js";
import { quote } from "../schema/words.js";
import type { FarmerPage, Sandbox } from "./sandbox.js";
import { fetchResponse } from "./web-request.js";

/** The member of a sandbox with its state. Registered globally, so that the ES module build and the CommonJS build accept each other's sandboxes. */
const stateKey = Symbol.for("svc-sandbox.state");

/**
 * The members that users call. `getOrStart` returns the state of the sandbox; the first call may start it. All members but the report
 * and a reset run what is due first.
 */
export function sandboxApi(getOrStart: () => SandboxState): Sandbox {
  const currentSandbox = () => {
    const sandbox = getOrStart();
    runDue(sandbox);
    return sandbox;
  };

  const sandbox: Sandbox = {
    get name() {
      return currentSandbox().name;
    },
    get seed() {
      return currentSandbox().seed;
    },
    get profile() {
      return currentSandbox().profile;
    },
    get assumptions() {
      const { profile: _, ...assumptions } = viewAssumptions(currentSandbox());
      return { ...assumptions, scopes: [...assumptions.scopes] };
    },
    secret: (ref) => secretToSend(currentSandbox(), ref),
    fetch: (input, init) => fetchResponse(currentSandbox, input, init),
    clock: clockApi(currentSandbox),
    keys: keysApi(currentSandbox),
    organizations: organizationsApi(currentSandbox),
    farmers: farmersApi(currentSandbox),
    faults: faultsApi(currentSandbox),
    requests: requestsApi(currentSandbox),
    report: () => clientReport(getOrStart()),
    reset: () => restartSandbox(getOrStart()),
  };
  return Object.defineProperty(sandbox, stateKey, { get: getOrStart });
}

function clockApi(currentSandbox: () => SandboxState): Sandbox["clock"] {
  return {
    now: () => viewClock(currentSandbox().clock).now,
    isFrozen: () => currentSandbox().clock.isFrozen(),
    advance: (by) => advanceClock(currentSandbox(), { by }).now,
    set: (to) => changeClock(currentSandbox(), { now: requireInstant(to) }).now,
    freeze: () => void changeClock(currentSandbox(), { frozen: true }),
    resume: () => void changeClock(currentSandbox(), { frozen: false }),
  };
}

function keysApi(currentSandbox: () => SandboxState): Sandbox["keys"] {
  return {
    list: () => viewKeys(currentSandbox()),
    get: (ref) => viewKey(currentSandbox().registry.key(ref), currentSandbox()),
    create(creation, by) {
      const body = membersToSnakeCase(withExpiryAsText(creation));
      const input = checkedArgument(inputShapes.key_creation, body, "create a key");
      return createKey(currentSandbox(), input, checkedActor(by));
    },
    rotate(key, rotation = {}, by) {
      const input = checkedArgument(inputShapes.key_rotation, rotation, "rotate the key");
      const { replacement, secret } = rotateKey(currentSandbox(), { ...input, key }, checkedActor(by));
      return { key: replacement, secret };
    },
    revoke: (key, by) => revokeKey(currentSandbox(), { key }, checkedActor(by)).key,
    expire(key, end, by) {
      const body = withExpiryAsText(end);
      const input = checkedArgument(inputShapes.key_expiry, body, "set the end of the key");
      return expireKey(currentSandbox(), { key, ...input }, checkedActor(by)).key;
    },
  };
}

function organizationsApi(currentSandbox: () => SandboxState): Sandbox["organizations"] {
  return {
    list: () => viewOrganizations(currentSandbox()),
    get: (ref) =>
      viewOrganization(currentSandbox().registry.organization(ref).organization, currentSandbox()),
    update(ref, change, by) {
      const body = membersToSnakeCase(change);
      const input = checkedArgument(inputShapes.organization_update, body, "change the organization");
      return updateOrganization(currentSandbox(), { ...input, ref }, checkedActor(by)).organization;
    },
  };
}

function farmersApi(currentSandbox: () => SandboxState): Sandbox["farmers"] {
  return {
    get count() {
      return currentSandbox().farmers.count;
    },
    at: (index) => currentSandbox().farmers.at(index),
    get: (id) => currentSandbox().farmers.get(id),
    list(page = {}) {
      const checked = checkedPage(page);
      return currentSandbox().farmers.list(checked);
    },
  };
}

function faultsApi(currentSandbox: () => SandboxState): Sandbox["faults"] {
  const list = () => {
    const { faults, clock } = currentSandbox();
    return writtenFaults(faults, clock.now());
  };
  return {
    list,
    set(faults) {
      // Faults are written as in scenarios, so that errors have those names.
      const change = { faults: faults ?? null };
      const input = checkInput(inputShapes.faults_change, change, "change the faults", valueNotation);
      changeFaults(currentSandbox(), input.faults as Fault[]);
      return list();
    },
  };
}

function requestsApi(currentSandbox: () => SandboxState): Sandbox["requests"] {
  return {
    list(options = {}) {
      const names = ["limit", "outcome", "key", "probes", "faults"];
      const query = checkedJournalQuery(requestQuery, options, names, "list the requests");
      return listRequests(currentSandbox(), query);
    },
    total: () => currentSandbox().journal.total(),
    clear: () => clearRequests(currentSandbox()),
  };
}

// What users give the members of a sandbox, checked and copied. All of these throw `validation_failed` with the names of the library.

/** An argument whose members have the names of its shape already. */
function checkedArgument<Of extends Shape>(shape: Of, argument: unknown, attempt: string): ValueOf<Of> {
  return checkInput(shape, argument, attempt, libraryNotation);
}

/** Options as a query of the journal. `names`: the names of the library's options. */
function checkedJournalQuery<Of extends Shape>(
  shape: Of,
  options: object,
  names: readonly string[],
  attempt: string,
): ValueOf<Of> {
  requireKnownOptions(attempt, options, names);
  return checkedCopy(shape, membersToSnakeCase(options), attempt, libraryNotation);
}

/** Who acts. Default: an administrator. */
function checkedActor(by: unknown = {}) {
  return checkedArgument(actorQuery, by, "act");
}

/** Which farmers to list. */
function checkedPage(page: FarmerPage): Required<FarmerPage> {
  requireKnownOptions("list farmers", page, ["offset", "limit"]);
  const { offset = 0, limit = defaultFarmerPage } = page;
  const problemOf = (value: unknown) =>
    Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number from 0";
  throwIfProblems("list farmers", { offset: problemOf(offset), limit: problemOf(limit) });
  return { offset, limit };
}

/**
 * The fields of a key, to be checked by their shape: if the end is a `Date` or a number, it becomes a text as in scenarios. Any other
 * text, such as a duration, stays.
 */
function withExpiryAsText(fields: { readonly expires?: string | Instant }): unknown {
  // The caller may have given anything in place of the fields.
  const { expires } = Object(fields) as typeof fields;
  if (expires === undefined || typeof expires === "string") return fields;
  return { ...fields, expires: isoTime(requireInstant(expires)) };
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
