import type { Assumptions } from "../../domain/assumptions.js";
import type { RandomStream } from "../../domain/seed.js";

/** An answer while it is being varied; each variant changes it in place. */
export interface Draft {
  readonly status: number;
  /** The body as a value, until a row has written it down. */
  body: { readonly data?: ContextMembers; readonly error?: ErrorMembers };
  /** The body as it will be sent; empty until it has been written down. */
  text: string;
  /** Names and values; the value of `Content-Length` is corrected at the end. */
  headers: [name: string, value: string][];
}

interface ContextMembers {
  [name: string]: unknown;
  readonly organization: { name: string };
  scopes: string[];
  readonly limits: Record<string, unknown>;
  readonly usage: Record<string, unknown>;
}

interface ErrorMembers {
  [name: string]: unknown;
  code: string;
  message: string;
  details?: Record<string, unknown>;
}

/** The effect of a variant on one answer. */
export interface Effect {
  /** Assumptions that hold for the answer. */
  readonly assume?: Partial<Assumptions>;
  /** The form of the request id, from the usual one; different ids must stay different. */
  readonly requestId?: (id: string) => string;
  readonly change?: (draft: Draft, random: RandomStream) => void;
}

/** One of the ways in which a real service may fill a gap. */
export interface Variant extends Effect {
  readonly id: string;
}

/** One thing that the specification leaves open; `docs/assumptions.md` says why services differ in it. */
export interface VariationRow {
  readonly id: string;
  /** The statuses of the answers that it applies to. */
  readonly statuses: readonly number[];
  /** The assumption that ends the variation where it is given. */
  readonly fixedBy?: keyof Assumptions;
  /** The first one is what `minimal` does. */
  readonly variants: readonly [Variant, ...Variant[]];
}

type Effects = Readonly<Record<string, Effect>>;

/** A row with the effect of each of its variants. */
export function row(id: string, statuses: readonly number[], effects: Effects): VariationRow {
  const variants = Object.entries(effects).map(([name, effect]) => ({ id: name, ...effect }));
  return { id, statuses, variants: variants as [Variant, ...Variant[]] };
}

/** A row that the assumption of the same name ends. */
export function assumptionRow(
  name: keyof Assumptions,
  statuses: readonly number[],
  effects: Effects,
): VariationRow {
  return { ...row(name, statuses, effects), fixedBy: name };
}

export const refused: readonly number[] = [400, 401, 403, 404, 405, 409, 422, 429];
export const anyStatus: readonly number[] = [200, 201, ...refused];

/** No effect: the answer stays as `minimal` gives it. */
export const unchanged: Effect = {};

/** Assumptions for the answer, and a change of what they make of it. */
export function assume(assumptions: Partial<Assumptions>, change?: Effect["change"]): Effect {
  return { assume: assumptions, ...(change !== undefined && { change }) };
}

/** More members for the object at one place of the body. */
export function members(
  place: (body: Draft["body"]) => object | undefined,
  added: Readonly<Record<string, unknown>>,
): Effect {
  return { change: ({ body }) => void Object.assign(place(body) ?? {}, added) };
}

/** More headers, in this order. */
export function headers(...added: readonly (readonly [name: string, value: string])[]): Effect {
  return {
    change: (draft) =>
      void draft.headers.push(...added.map(([name, value]): [string, string] => [name, value])),
  };
}

/** Another value for each header of one name. */
export function headerValue(name: string, rewrite: (value: string) => string): Effect {
  return {
    change(draft) {
      for (const header of draft.headers) if (header[0] === name) header[1] = rewrite(header[1]);
    },
  };
}

/** Another spelling of the name of each header. */
export function headerNames(spell: (name: string) => string): Effect {
  return {
    change(draft) {
      for (const header of draft.headers) header[0] = spell(header[0]);
    },
  };
}

type Order = "reversed" | "sorted" | "shuffled";

/** The headers in another order. */
export function headerOrder(order: Order): Effect {
  return {
    change(draft, random) {
      draft.headers = arranged(draft.headers, order, random);
    },
  };
}

/** The members of all objects of the body in another order; lists stay as they are. */
export function memberOrder(order: Order): Effect {
  const inOrder = <Value>(value: Value, random: RandomStream): Value => {
    if (Array.isArray(value)) return value.map((item) => inOrder(item, random)) as Value;
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value).map(([name, member]) => [name, inOrder(member, random)] as const);
    return Object.fromEntries(arranged(entries, order, random)) as Value;
  };
  return {
    change(draft, random) {
      draft.body = inOrder(draft.body, random);
    },
  };
}

function arranged<Item extends readonly [name: string, value: unknown]>(
  items: readonly Item[],
  order: Order,
  random: RandomStream,
): Item[] {
  const next = [...items];
  if (order === "reversed") return next.reverse();
  if (order === "sorted") return next.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  for (let last = next.length - 1; last > 0; last--) {
    const chosen = random() % (last + 1);
    [next[last], next[chosen]] = [next[chosen] as Item, next[last] as Item];
  }
  return next;
}

/** The body written down in one way. */
export function written(write: (body: Draft["body"]) => string): Effect {
  return {
    change(draft) {
      draft.text = write(draft.body);
    },
  };
}

/**
 * The written body with some characters spelled in another way. Every character that has two spellings in JSON stands
 * within a string, so that the text can be changed as a whole.
 */
export function spelled(which: RegExp, spell: (found: string) => string): Effect {
  return {
    change(draft) {
      draft.text = draft.text.replace(which, spell);
    },
  };
}
