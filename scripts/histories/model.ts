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
import { loanRecords, loans } from "../../test/records/sandbox.js";

/** What a client does: which key it uses or changes, the name of a new one, and minutes. */
export interface Operation {
  readonly do: keyof typeof operations;
  readonly key?: string;
  readonly ref?: string;
  readonly minutes?: number;
}

interface Kind {
  /** Its call, without the path of the instance. */
  readonly call: (operation: Required<Operation>) => readonly [call: string, body?: object];
  /** What counts of the data of a successful response. */
  // biome-ignore lint/suspicious/noExplicitAny: the members that are read exist if the operation succeeded
  readonly shown?: (data: any) => string;
  /** Changes a state of the model; returns the outcome. */
  readonly perform: (state: Model, operation: Required<Operation>) => string;
}

const minute = 60_000;
const start = Date.parse("2026-03-02T09:00:00Z");

type Listed = readonly { ref: string; organization: string; state: string; usage: Record<string, number> }[];

/** The first keys and their limits, which a few requests reach. */
const firstKeys = { a: 3, b: 2, c: 4, d: 2 } as const;
const limitOfNew = 2;
const perDay = 1000;

export const operations = {
  request: {
    call: () => ["GET /v1/relying-party/me"],
    shown: (data) => `today ${data.usage.today}`,
    perform(state, { key }) {
      const { status, code, today } = whoAmI(state, key);
      return status === 200 ? `200 today ${today}` : `${status} ${code}`;
    },
  },
  create: {
    call({ ref }) {
      const limits = { per_minute: limitOfNew, per_day: perDay };
      return ["POST /keys", { ref, organization: "bank", environment: "test", name: `Key ${ref}`, limits }];
    },
    perform: (state, { ref }) => outcomeOf(create(state, ref, newKey(limitOfNew)), 201),
  },
  rotate: {
    call: ({ key, ref, minutes }) => [`POST /keys/${key}/rotate`, { as: ref, overlap_minutes: minutes }],
    perform: (state, { key, ref, minutes }) => outcomeOf(rotate(state, key, ref, minutes * minute), 201),
  },
  revoke: {
    call: ({ key }) => [`POST /keys/${key}/revoke`, {}],
    perform: (state, { key }) => outcomeOf(revoke(state, key), 200),
  },
  advance: {
    call: ({ minutes }) => ["POST /clock/advance", { by: `${minutes}m` }],
    shown: (data) => data.now,
    perform(state, { minutes }) {
      state.now += minutes * minute;
      return `200 ${new Date(state.now).toISOString()}`;
    },
  },
  list: {
    call: () => ["GET /keys?limit=1000"],
    shown: (data: Listed) =>
      data
        .filter(({ organization }) => organization === "bank")
        .map(({ ref, state, usage }) => `${ref} ${state} ${usage.this_minute}/${usage.today}`)
        .sort()
        .join(", "),
    perform: (state) => `200 ${listed(state)}`,
  },
} as const satisfies Record<string, Kind>;

export const kindOf = (operation: Operation): Kind => operations[operation.do];

/** The scenario of a history; the keys of its other organization are in no model. */
export function historyScenario(): object {
  const keyOf = (limit: number) => {
    return { environment: "test", limits: { per_minute: limit, per_day: Math.max(perDay, limit) } };
  };
  const keys = Object.fromEntries(Object.entries(firstKeys).map(([ref, limit]) => [ref, keyOf(limit)]));
  return {
    version: 1,
    name: "Histories",
    clock: { now: new Date(start).toISOString(), frozen: true },
    openapi: { text: JSON.stringify(loans), file: "api.yaml" },
    records: loanRecords,
    organizations: {
      bank: { type: "bank", keys },
      other: { type: "bank", keys: { probe: keyOf(1_000_000_000), records: keyOf(1_000_000_000) } },
    },
  };
}

function newKey(perMinute: number): ModelKey {
  const ends = { expires: null, revoked: null, overlapEnds: null };
  const scopes = ["attestations:read"];
  return { organization: "bank", environment: "test", scopes, perMinute, perDay, ...ends, counted: [] };
}

export function firstState(): Model {
  const keys = Object.entries(firstKeys).map(([ref, limit]) => [ref, newKey(limit)]);
  return {
    now: start,
    organizations: { bank: { active: true, live: "not_approved", sandboxAccess: true } },
    keys: Object.fromEntries(keys),
    settings: { sliding: false, resetHour: 0, countRejected: false },
  };
}

/** The outcome of an operation on a state, and the state after it. */
export function step(before: Model, operation: Operation) {
  const keys = Object.entries(before.keys).map(([ref, key]) => [ref, { ...key, counted: [...key.counted] }]);
  const state: Model = { ...before, keys: Object.fromEntries(keys) };
  return { outcome: kindOf(operation).perform(state, { key: "", ref: "", minutes: 0, ...operation }), state };
}

function outcomeOf(error: string | null, success: number): string {
  if (error === null) return String(success);
  return error === "unknown_ref" ? "404 not_found" : `409 ${error}`;
}

/**
 * The same text for states that no later operation can distinguish. Of a key's requests only two numbers count: the clock moves by
 * whole minutes. How a key ended counts, but not when, and neither does the order of the keys' creation.
 */
export function textOf(state: Model): string {
  const keys = Object.entries(state.keys).map(([ref, key]) => {
    const overlapEnds = isWorking(key, state.now) ? key.overlapEnds : null;
    return `${shown(state, ref, key)} of ${key.perMinute} until ${overlapEnds}`;
  });
  return `${state.now}: ${keys.sort().join(", ")}`;
}

function listed(state: Model): string {
  const lines = Object.entries(state.keys).map(([ref, key]) => shown(state, ref, key));
  return lines.sort().join(", ");
}

function shown(state: Model, ref: string, key: ModelKey): string {
  const ended = key.revoked === null ? "rotated" : "revoked";
  const working = isActive(key, state.now) ? "active" : "retiring";
  const keyState = isWorking(key, state.now) ? working : ended;
  return `${ref} ${keyState} ${countedThisMinute(state, key)}/${countedToday(state, key)}`;
}
