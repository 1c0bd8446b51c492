import {
  countedThisMinute,
  countedToday,
  create,
  isActive,
  isWorking,
  type Model,
  type ModelKey,
  revoke,
  rotate,
  whoAmI,
} from "../../test/model/specification-model.js";

/** What a client asks for. Times are minutes. */
export type Operation =
  | { readonly do: "request"; readonly key: string }
  | { readonly do: "revoke"; readonly key: string }
  | { readonly do: "read"; readonly key: string }
  | { readonly do: "create"; readonly ref: string; readonly organization: string }
  | { readonly do: "rotate"; readonly key: string; readonly as: string; readonly overlap: number }
  | { readonly do: "organization"; readonly ref: string; readonly active: boolean }
  | { readonly do: "advance"; readonly by: number }
  | { readonly do: "list" };

/** What came of it, in one line: `200 today 3`, `409 name_taken`. */
export type Answer = string;

/** What the operations make of the world: a state is never changed. */
export type State = Model;

const minute = 60_000;
const start = Date.parse("2026-03-02T09:00:00Z");
const scopes = ["attestations:read"] as const;

/** The keys that are there from the start, with small limits so that a few requests reach them. */
const firstKeys = {
  bank: { a: 3, b: 2, c: 4 },
  insurer: { d: 2 },
} as const;
export const organizations = ["bank", "insurer"] as const;
/** Four more than a bank may have. */
export const newRefs = ["e", "f", "g", "h", "i", "j"] as const;
export const limitOfNew = 2;
const perDay = 1000;

/** The world of a history as a scenario; the key of the prober is in no history. */
export function historyScenario(): object {
  const limited = (perMinute: number) => ({
    environment: "test",
    limits: { per_minute: perMinute, per_day: perDay },
  });
  const organizationOf = (keys: Readonly<Record<string, number>>) => ({
    type: "bank",
    keys: Object.fromEntries(Object.entries(keys).map(([ref, perMinute]) => [ref, limited(perMinute)])),
  });
  const many = { per_minute: 1_000_000_000, per_day: 1_000_000_000 };
  return {
    version: 1,
    name: "Histories",
    clock: { now: new Date(start).toISOString(), frozen: true },
    organizations: {
      bank: organizationOf(firstKeys.bank),
      insurer: organizationOf(firstKeys.insurer),
      prober: { type: "bank", keys: { probe: { environment: "test", limits: many } } },
    },
  };
}

function newKey(organization: string, perMinute: number): ModelKey {
  const limits = { perMinute, perDay };
  const ends = { expires: null, revoked: null, overlapEnds: null };
  return { organization, environment: "test", scopes, ...limits, ...ends, counted: [] };
}

/** The state in which every history begins. */
export function firstState(): State {
  const keys = Object.entries(firstKeys).flatMap(([organization, own]) =>
    Object.entries(own).map(([ref, perMinute]) => [ref, newKey(organization, perMinute)] as const),
  );
  const organization = () => ({ active: true, live: "not_approved" as const, sandboxAccess: true });
  return {
    now: start,
    organizations: { bank: organization(), insurer: organization() },
    keys: Object.fromEntries(keys),
    settings: { sliding: false, resetHour: 0, countRefused: false },
  };
}

const statusOf: Readonly<Record<string, number>> = { unknown_ref: 404 };
const codeOf: Readonly<Record<string, string>> = { unknown_ref: "not_found" };
const answerTo = (error: string | null, fine: number): Answer =>
  error === null ? String(fine) : `${statusOf[error] ?? 409} ${codeOf[error] ?? error}`;

/** Does an operation as if nothing else happened meanwhile. */
export function step(
  before: State,
  operation: Operation,
): { readonly answer: Answer; readonly state: State } {
  if (operation.do === "list") return { answer: `200 ${listed(before)}`, state: before };
  if (operation.do === "read") {
    const key = before.keys[operation.key];
    return { answer: key ? `200 ${shown(before, key)}` : "404 not_found", state: before };
  }
  const state = copyOf(before);
  return { answer: change(state, operation), state };
}

function change(
  state: State,
  operation: Exclude<Operation, { readonly do: "list" } | { readonly do: "read" }>,
): Answer {
  switch (operation.do) {
    case "request": {
      const { status, code, today } = whoAmI(state, operation.key);
      return status === 200 ? `200 today ${today}` : `${status} ${code}`;
    }
    case "create": {
      const { ref, organization } = operation;
      return answerTo(create(state, ref, newKey(organization, limitOfNew)), 201);
    }
    case "rotate":
      return answerTo(rotate(state, operation.key, operation.as, operation.overlap * minute), 201);
    case "revoke":
      return answerTo(revoke(state, operation.key), 200);
    case "organization":
      (state.organizations[operation.ref] as { active: boolean }).active = operation.active;
      return `200 ${operation.active ? "active" : "inactive"}`;
    case "advance":
      state.now += operation.by * minute;
      return `200 ${new Date(state.now).toISOString()}`;
  }
}

/** The same text for states that no later operation can tell apart. */
export function textOf(state: State): string {
  const { now, organizations } = state;
  const active = Object.entries(organizations).map(([ref, { active }]) => `${ref} ${active}`);
  const ends = Object.entries(state.keys).map(([ref, { overlapEnds }]) => `${ref} ${overlapEnds}`);
  return [now, ...active, ...ends.sort(), listed(state)].join();
}

// Lists are compared by their content: in which order two keys were made, they need not tell.
function listed(state: State): string {
  return listOf(Object.entries(state.keys).map(([ref, key]) => [ref, shown(state, key)]));
}

/** A list of keys in one line. */
export function listOf(keys: readonly (readonly [ref: string, shown: string])[]): string {
  return keys
    .map((key) => key.join(" "))
    .sort()
    .join(", ");
}

function shown(state: State, key: ModelKey): string {
  return `${stateOf(state, key)} ${countedThisMinute(state, key)}/${countedToday(state, key)}`;
}

function stateOf({ now }: State, key: ModelKey): string {
  if (key.revoked !== null) return "revoked";
  if (isActive(key, now)) return "active";
  return isWorking(key, now) ? "retiring" : "rotated";
}

function copyOf(state: State): State {
  const keys = Object.entries(state.keys).map(([ref, key]): [string, ModelKey] => [
    ref,
    { ...key, counted: [...key.counted] },
  ]);
  const all = Object.entries(state.organizations).map(([ref, one]) => [ref, { ...one }] as const);
  return { ...state, organizations: Object.fromEntries(all), keys: Object.fromEntries(keys) };
}
