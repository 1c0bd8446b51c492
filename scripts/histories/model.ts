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

export type Operation =
  | { readonly do: "request"; readonly key: string }
  | { readonly do: "revoke"; readonly key: string }
  | { readonly do: "create"; readonly ref: string; readonly organization: string }
  | { readonly do: "rotate"; readonly key: string; readonly as: string; readonly overlap: number }
  | { readonly do: "organization"; readonly ref: string; readonly active: boolean }
  | { readonly do: "advance"; readonly by: number }
  | { readonly do: "list" };

export type Outcome = string;

/** What the operations change: a state is copied, never changed. */
export type State = Model;

const minute = 60_000;
const start = Date.parse("2026-03-02T09:00:00Z");

/** The first keys and their limits, which a few requests reach. */
const firstKeys = { bank: { a: 3, b: 2, c: 4 }, insurer: { d: 2 } } as const;
export const organizations = ["bank", "insurer"] as const;
/** More than a bank may have. */
export const newRefs = ["e", "f", "g", "h", "i", "j"] as const;
export const limitOfNew = 2;
const perDay = 1000;

/** The scenario of a history; the key of the prober is in no history. */
export function historyScenario(): object {
  const organizationOf = (keys: Readonly<Record<string, number>>) => {
    const limits = (perMinute: number) => ({ per_minute: perMinute, per_day: Math.max(perDay, perMinute) });
    const keyOf = (perMinute: number) => ({ environment: "test", limits: limits(perMinute) });
    const entries = Object.entries(keys).map(([ref, perMinute]) => [ref, keyOf(perMinute)]);
    return { type: "bank", keys: Object.fromEntries(entries) };
  };
  return {
    version: 1,
    name: "Histories",
    clock: { now: new Date(start).toISOString(), frozen: true },
    organizations: {
      ...{ bank: organizationOf(firstKeys.bank), insurer: organizationOf(firstKeys.insurer) },
      prober: organizationOf({ probe: 1_000_000_000 }),
    },
  };
}

function newKey(organization: string, perMinute: number): ModelKey {
  const ends = { expires: null, revoked: null, overlapEnds: null };
  const scopes = ["attestations:read"];
  return { organization, environment: "test", scopes, perMinute, perDay, ...ends, counted: [] };
}

export function firstState(): State {
  const keys = Object.entries(firstKeys).flatMap(([organization, own]) =>
    Object.entries(own).map(([ref, perMinute]) => [ref, newKey(organization, perMinute)]),
  );
  const organization = () => ({ active: true, live: "not_approved" as const, sandboxAccess: true });
  return {
    now: start,
    organizations: { bank: organization(), insurer: organization() },
    keys: Object.fromEntries(keys),
    settings: { sliding: false, resetHour: 0, countRejected: false },
  };
}

/** The outcome of an operation on a state, and the state after it. */
export function step(before: State, operation: Operation) {
  const state = copyOf(before);
  return { outcome: perform(state, operation), state };
}

function perform(state: State, operation: Operation): Outcome {
  switch (operation.do) {
    case "request": {
      const { status, code, today } = whoAmI(state, operation.key);
      return status === 200 ? `200 today ${today}` : `${status} ${code}`;
    }
    case "create": {
      const { ref, organization } = operation;
      return outcomeOf(create(state, ref, newKey(organization, limitOfNew)), 201);
    }
    case "rotate":
      return outcomeOf(rotate(state, operation.key, operation.as, operation.overlap * minute), 201);
    case "revoke":
      return outcomeOf(revoke(state, operation.key), 200);
    case "organization":
      (state.organizations[operation.ref] as { active: boolean }).active = operation.active;
      return `200 ${operation.active ? "active" : "inactive"}`;
    case "advance":
      state.now += operation.by * minute;
      return `200 ${new Date(state.now).toISOString()}`;
    case "list":
      return `200 ${listed(state)}`;
  }
}

function outcomeOf(error: string | null, success: number): Outcome {
  if (error === null) return String(success);
  return error === "unknown_ref" ? "404 not_found" : `409 ${error}`;
}

/** The same text for states that no later operation can distinguish. */
export function textOf(state: State): string {
  const { now, organizations, keys } = state;
  const active = Object.entries(organizations).map(([ref, { active }]) => `${ref} ${active}`);
  const ends = Object.entries(keys).map(([ref, { overlapEnds }]) => `${ref} ${overlapEnds}`);
  return [now, ...active, ...ends.sort(), listed(state)].join();
}

function listed(state: State): string {
  const { now, keys } = state;
  const lines = Object.entries(keys).map(([ref, key]) => {
    const ended = key.revoked === null ? "rotated" : "revoked";
    const working = isActive(key, now) ? "active" : "retiring";
    const shown = isWorking(key, now) ? working : ended;
    return `${ref} ${shown} ${countedThisMinute(state, key)}/${countedToday(state, key)}`;
  });
  return listOf(lines);
}

/** A list of keys in one line; the order of their creation does not matter. */
export function listOf(keys: readonly string[]): string {
  return [...keys].sort().join(", ");
}

function copyOf(state: State): State {
  const keys = Object.entries(state.keys).map(([ref, key]) => [ref, { ...key, counted: [...key.counted] }]);
  const all = Object.entries(state.organizations).map(([ref, one]) => [ref, { ...one }]);
  return { ...state, organizations: Object.fromEntries(all), keys: Object.fromEntries(keys) };
}
