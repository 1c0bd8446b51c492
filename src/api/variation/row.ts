import type { Assumptions } from "../../domain/assumptions.js";
import type { RandomStream } from "../../domain/seed.js";

/** An answer while it is being varied; each variant changes it in place. */
export interface Draft {
  readonly status: number;
  /** The body as a value, until a row has written it down. */
  body: { readonly data?: ContextMembers; readonly error?: ErrorMembers };
  /** The body as it will be sent; empty until it has been written down. */
  text: string;
  /** Names and values; the value of `Content-Length` is put right at the end. */
  headers: [name: string, value: string][];
}

/** The object of `data`, as far as rows have to know it. */
export interface ContextMembers {
  [name: string]: unknown;
  readonly organization: { name: string };
  scopes: string[];
  readonly limits: Record<string, unknown>;
  readonly usage: Record<string, unknown>;
}

/** The object of `error`. */
export interface ErrorMembers {
  [name: string]: unknown;
  code: string;
  message: string;
  details?: Record<string, unknown>;
}

/** One of the ways in which a real service may fill a gap. */
export interface Variant {
  readonly id: string;
  /** Why a real service might do so. */
  readonly why: string;
  /** Assumptions that hold for the answer. */
  readonly assume?: Partial<Assumptions>;
  /** The form of the request id, from the usual one; different ids must stay different. */
  readonly requestId?: (id: string) => string;
  /** What it does to the answer. */
  readonly change?: (draft: Draft, draw: RandomStream) => void;
}

/** One thing that the specification leaves open. */
export interface VariationRow {
  readonly id: string;
  readonly gap: string;
  /** The statuses of the answers that it applies to. */
  readonly statuses: readonly number[];
  /** The assumption that ends the variation where it is given. */
  readonly fixedBy?: keyof Assumptions;
  /** The first one is what `minimal` does. */
  readonly variants: readonly [Variant, ...Variant[]];
}

/** The statuses that answers of the API have. */
export const refused: readonly number[] = [400, 401, 403, 404, 405, 409, 422, 429];
export const anyStatus: readonly number[] = [200, 201, ...refused];

/** A variant that adds members to the object at one place of the body. */
export function withMembers(
  place: (body: Draft["body"]) => object | undefined,
  id: string,
  members: Readonly<Record<string, unknown>>,
  why: string,
): Variant {
  return { id, why, change: ({ body }) => void Object.assign(place(body) ?? {}, members) };
}
