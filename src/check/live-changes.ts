import { me } from "../api/endpoints/me.js";
import {
  type AnnouncedChange,
  type ChangeFields,
  datedChanges,
  dateText,
  partsOf,
} from "../sandbox/timeline.js";
import { outcomeOf } from "../spec/outcomes.js";
import { isMapping } from "../spec/schema/shape.js";
import type { CompletedAttempt } from "./judge.js";
import { type InferredAssumption, scopesOf } from "./learn.js";
import { type CheckedResponse, headerOf, memberAt } from "./response.js";

/** `partly`: some of its edits are live; `not_seen`: no response shows them. */
export type LiveState = "live" | "partly" | "not_yet" | "not_seen";

export interface LiveChange {
  readonly ref: string;
  readonly say: string | undefined;
  readonly date: string;
  readonly state: LiveState;
}

/** Finds the announced changes that an environment's responses already show. */
export function liveChanges(
  changes: ChangeFields,
  exchanges: readonly CompletedAttempt[],
  inferred: readonly InferredAssumption[],
): LiveChange[] {
  return datedChanges(changes).map((change) => {
    const { ref, at, fields } = change;
    const { operation: changed = me.operationId } = fields;
    const own = exchanges.filter(({ endpoint = me }) => endpoint.operationId === changed);
    const all = own.map(({ response }) => response);
    const seen = partsOf(change).map(({ path: [kind = "", operation = "", name = operation], value }) =>
      looks[kind]?.({ exchanges: own, all, inferred, fields, operation, name, value }),
    );
    const [live, not] = [true, false].map((one) => seen.includes(one));
    const state = live ? (not ? "partly" : "live") : not ? "not_yet" : "not_seen";
    return { ref, say: fields.say, date: dateText(at), state };
  });
}

interface Sought {
  readonly exchanges: readonly CompletedAttempt[];
  readonly all: readonly CheckedResponse[];
  readonly inferred: readonly InferredAssumption[];
  readonly fields: AnnouncedChange["fields"];
  /** The operation on the name: add, rename or remove. */
  readonly operation: string;
  readonly name: string;
  readonly value: unknown;
}

type Look = (sought: Sought) => boolean | undefined;

// Each returns `undefined` if no response shows it.
const looks: Readonly<Record<string, Look>> = {
  assumptions({ inferred, name, value }) {
    const found = inferred.find((one) => one.name === name)?.value;
    return found === undefined ? undefined : found === value;
  },
  codes: ({ value, ...sought }) =>
    every(ofError(sought), ({ response }) => memberAt(response, "error", "code") === value),
  statuses: ({ value, ...sought }) => every(ofError(sought), ({ response }) => response.status === value),
  members({ all, fields: { members }, operation, name, value }) {
    const objects = withStatus(all, members?.on).map((one) =>
      memberAt(one, ...(members?.in ?? "").split(".")),
    );
    const sought = operation === "rename" ? String(value) : name;
    return every(objects.filter(isMapping), (one) => Object.hasOwn(one, sought) === (operation !== "remove"));
  },
  headers({ all, fields: { headers }, operation, name, value }) {
    const some = withStatus(all, headers?.on);
    const has = (one: string) => some.some((response) => headerOf(response, one.toLowerCase()) !== undefined);
    if (operation === "rename") return has(String(value)) || (has(name) ? false : undefined);
    return some.length === 0 ? undefined : has(name) === (operation === "add");
  },
  scopes({ all, operation, name, value }) {
    const names = all.flatMap(scopesOf);
    if (operation === "rename")
      return names.includes(String(value)) || (names.includes(name) ? false : undefined);
    if (operation === "add") return names.length === 0 ? undefined : names.includes(name);
    return names.includes(name) ? false : undefined;
  },
  move: ({ all, fields: { move } }) =>
    every(all, (response) => headerOf(response, "link")?.includes(`<${move?.to}>`) === true),
};

function ofError({ exchanges, name }: Pick<Sought, "exchanges" | "name">): readonly CompletedAttempt[] {
  return exchanges.filter(({ pathId }) => pathId === name || outcomeOf(pathId).code === name);
}

function withStatus(all: readonly CheckedResponse[], on: number | undefined): readonly CheckedResponse[] {
  return all.filter(({ status }) => on === undefined || on === status);
}

function every<Item>(items: readonly Item[], holds: (item: Item) => boolean): boolean | undefined {
  return items.length === 0 ? undefined : items.every(holds);
}
