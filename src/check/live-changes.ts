import { outcomeOf } from "../spec/outcomes.js";
import { isMapping } from "../spec/schema/shape.js";
import { type CheckedResponse, headerOf, memberAt } from "./answer.js";
import type { AnsweredAttempt } from "./judge.js";
import type { InferredAssumption } from "./learn.js";

/** `partly`: some of its edits are live; `not_seen`: no response shows them. */
export type LiveState = "live" | "partly" | "not_yet" | "not_seen";

/** An announced change to look for. */
export interface SoughtChange {
  readonly ref: string;
  readonly say?: string | undefined;
  readonly date: string;
  readonly fields: {
    readonly members?: { readonly in: string; readonly on?: number };
    readonly headers?: { readonly on?: number };
    readonly move?: { readonly to: string };
  };
  /** Its edits: the kind, the operation if there are several, and a name. */
  readonly parts: readonly { readonly path: readonly string[]; readonly value: unknown }[];
}

/** An announced change, and whether responses show it. */
export interface LiveChange extends Pick<SoughtChange, "ref" | "say" | "date"> {
  readonly state: LiveState;
}

/** Finds the announced changes that an environment's responses already show. */
export function liveChanges(
  changes: readonly SoughtChange[],
  exchanges: readonly AnsweredAttempt[],
  inferred: readonly InferredAssumption[],
): LiveChange[] {
  const all = exchanges.map(({ answer }) => answer);
  return changes.map(({ ref, say, date, fields, parts }) => {
    const seen = parts.map(({ path: [kind = "", operation = "", name = operation], value }) =>
      looks[kind]?.({ exchanges, all, inferred, fields, operation, name, value }),
    );
    const [live, not] = [true, false].map((one) => seen.includes(one) || seen.includes("partly"));
    const state = live ? (not ? "partly" : "live") : not ? "not_yet" : "not_seen";
    return { ref, say, date, state };
  });
}

interface Sought {
  readonly exchanges: readonly AnsweredAttempt[];
  readonly all: readonly CheckedResponse[];
  readonly inferred: readonly InferredAssumption[];
  readonly fields: SoughtChange["fields"];
  /** The operation on the name: add, rename or remove. */
  readonly operation: string;
  readonly name: string;
  readonly value: unknown;
}

type Look = (sought: Sought) => boolean | "partly" | undefined;

// Each returns `undefined` if no response shows it.
const looks: Readonly<Record<string, Look>> = {
  assumptions({ inferred, name, value }) {
    const found = inferred.find((one) => one.name === name);
    if (found?.value !== undefined) return found.value === value;
    return new Set(Object.values(found?.byStatus ?? {})).size > 1 ? "partly" : undefined;
  },
  codes: ({ value, ...sought }) =>
    every(ofError(sought), ({ answer }) => memberAt(answer, "error", "code") === value),
  statuses: ({ value, ...sought }) => every(ofError(sought), ({ answer }) => answer.status === value),
  members({ all, fields: { members }, operation, name, value }) {
    const objects = withStatus(all, members?.on).map((one) =>
      memberAt(one, ...(members?.in ?? "").split(".")),
    );
    const sought = operation === "rename" ? String(value) : name;
    return every(objects.filter(isMapping), (one) => Object.hasOwn(one, sought) === (operation !== "remove"));
  },
  headers({ all, fields: { headers }, operation, name, value }) {
    const some = withStatus(all, headers?.on);
    const has = (one: string) => some.some((answer) => headerOf(answer, one.toLowerCase()) !== undefined);
    if (operation === "rename") return has(String(value)) || (has(name) ? false : undefined);
    return some.length === 0 ? undefined : has(name) === (operation === "add");
  },
  scopes({ all, operation, name, value }) {
    const names = all.flatMap(scopesIn);
    if (operation === "rename")
      return names.includes(String(value)) || (names.includes(name) ? false : undefined);
    if (operation === "add") return names.length === 0 ? undefined : names.includes(name);
    return names.includes(name) ? false : undefined;
  },
  move: ({ all, fields: { move } }) =>
    every(all, (answer) => headerOf(answer, "link")?.includes(`<${move?.to}>`) === true),
};

function ofError({ exchanges, name }: Pick<Sought, "exchanges" | "name">): readonly AnsweredAttempt[] {
  return exchanges.filter(({ pathId }) => pathId === name || outcomeOf(pathId).code === name);
}

function withStatus(all: readonly CheckedResponse[], on: number | undefined): readonly CheckedResponse[] {
  return all.filter(({ status }) => on === undefined || on === status);
}

function scopesIn(answer: CheckedResponse): string[] {
  const scopes = memberAt(answer, "data", "scopes");
  return Array.isArray(scopes) ? scopes.map(String) : [];
}

function every<Item>(items: readonly Item[], holds: (item: Item) => boolean): boolean | undefined {
  return items.length === 0 ? undefined : items.every(holds);
}
