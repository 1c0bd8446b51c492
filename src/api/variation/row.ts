import type { Assumptions } from "../../rules/assumptions.js";
import { successStatuses } from "../../rules/outcomes.js";
import { type RandomStream, randomStream } from "../../rules/seed.js";
import { type RowOfVariants, saltOf } from "../../sandbox/variants.js";

// What a row of the variation table is. A variant sets the assumptions and the request id with which a response is made. Of the
// response, it changes the value of the body, then the text that is written of it, then the headers. No change has a state: each
// returns what it makes.

/** The body of a response as a value. */
export interface Body {
  readonly data?: {
    readonly [name: string]: unknown;
    readonly organization: { name: string };
    readonly scopes: string[];
    readonly limits: object;
    readonly usage: object;
  };
  readonly error?: object;
}

export type Header = readonly [name: string, value: string];

/** One possible behavior of a real service in a gap of the specification. Most variants have one of the optional members. */
export interface RowVariant {
  readonly id: string;
  /** Whether it is what `minimal` makes of a value that other variants of its row assume, too. */
  readonly isUsual?: true;
  /** The statuses of its responses. Default: its row's. */
  readonly statuses?: readonly number[];

  // Before there is a response.
  /** The assumptions with which the response is made. */
  readonly assume?: Partial<Assumptions>;
  /**
   * The request id, made from the 24 hex digits of a request and its series: 0 until the first restart of the sandbox, then 1, and so
   * on. All ids of a sandbox must differ.
   */
  readonly requestId?: (digits: string, series: number) => string;

  // The body of the response, in this order.
  /** Another body with these changes. */
  readonly changeBody?: (body: Body, random: RandomStream, status: number) => Body;
  /** The text of the body. Default: JSON without spaces. */
  readonly writeBody?: (body: Body) => string;
  /** Another text of the same value. */
  readonly changeText?: (text: string) => string;

  // Its headers, last.
  /** Other headers; `text` is that of the body. */
  readonly changeHeaders?: (
    headers: readonly Header[],
    random: RandomStream,
    text: string,
  ) => readonly Header[];
}

/** A variant without its id. */
export type VariantMembers = Omit<RowVariant, "id">;

/** A gap in the specification; `docs/specification.md` lists its variants. */
export interface VariationRow extends RowOfVariants<RowVariant> {
  /** The statuses of the responses that have it. */
  readonly statuses: readonly number[];
  /** The assumption that its variants set, if it is about one. */
  readonly assumption: keyof Assumptions | undefined;
}

/** The statuses of responses that show the limits of a key. */
export const limitStatuses: readonly number[] = [...successStatuses, 429];
export const errorStatuses: readonly number[] = [401, 403, 404, 405, 429, 500, 501, 502, 503, 504];
export const allStatuses: readonly number[] = [...successStatuses, ...errorStatuses];

/** A row of no assumption. */
export function variationRow({
  id,
  statuses,
  minimal,
  otherVariants,
}: {
  readonly id: string;
  readonly statuses: readonly number[];
  /** The id of the first variant: what `minimal` does, without any change. */
  readonly minimal: string;
  /** The other variants by their ids. */
  readonly otherVariants: Readonly<Record<string, VariantMembers>>;
}): VariationRow {
  const variants = Object.entries(otherVariants).map(([name, members]) => ({ id: name, ...members }));
  return { id, salt: saltOf(id), statuses, assumption: undefined, variants: [{ id: minimal }, ...variants] };
}

/**
 * The row of an assumption, with its variants by their ids. Each has the value that it assumes, and what it changes besides. The
 * first variant is what `minimal` does.
 */
export function assumptionRow<Name extends keyof Assumptions>(
  name: Name,
  statuses: readonly number[],
  variants: Readonly<Record<string, VariantMembers & { readonly value: Assumptions[Name] }>>,
): VariationRow {
  const rowVariants: RowVariant[] = [];
  for (const [id, { value, ...members }] of Object.entries(variants)) {
    rowVariants.push({ id, assume: { [name]: value }, ...members });
  }
  const variantsOfRow = rowVariants as [RowVariant, ...RowVariant[]]; // each row is written with at least one
  return { id: name, salt: saltOf(name), statuses, assumption: name, variants: variantsOfRow };
}

// The orders in which a response may have its members and its headers.

/** An item with its name, such as a member of an object or a header. */
type Named = readonly [name: string, value: unknown];

/** Puts items into another order. */
export type Arrange = <Item extends Named>(items: readonly Item[], random: RandomStream) => Item[];

export function reversed<Item>(items: readonly Item[]): Item[] {
  return [...items].reverse();
}

export function sorted<Item extends Named>(items: readonly Item[]): Item[] {
  return [...items].sort(([name], [otherName]) => {
    if (name === otherName) return 0;
    return name < otherName ? -1 : 1;
  });
}

/** Each name has its own random place, so that a member or header which another row of the table adds reorders no others. */
export function shuffled<Item extends Named>(items: readonly Item[], random: RandomStream): Item[] {
  const salt = random();
  const placed = items.map((item) => ({ item, place: randomStream(salt, "place", item[0])() }));
  placed.sort((one, other) => one.place - other.place);
  return placed.map(({ item }) => item);
}
