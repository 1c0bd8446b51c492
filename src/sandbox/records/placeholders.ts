import { SandboxError } from "../../rules/errors.js";
import { memberIn } from "../../rules/schema/json.js";
import { isMapping } from "../../rules/schema/shape.js";
import { placeholder } from "../../scenario/format/fields.js";
import type { Farmers } from "../population/farmers.js";

/** The id of the nth record of a collection; `undefined` if it does not exist, `null` for no collection. */
export type IdAt = (collection: string, number: number) => string | undefined | null;

export interface Places {
  readonly farmers: Farmers;
  readonly idAt: IdAt;
}

/**
 * Replaces placeholders in plain data: `{farmer.0}` is a farmer's id, `{farmer.0.name}` a member, `{loans.1}` the id of a
 * record. A text that is only a member keeps the member's type. Throws `unknown_ref` for a number or a member that does
 * not exist; other texts in braces stay.
 */
export function filled<Value>(value: Value, places: Places): Value {
  if (typeof value === "string") return filledText(value, places) as Value;
  if (Array.isArray(value)) return value.map((one) => filled(one, places)) as Value;
  if (!isMapping(value)) return value;
  const members = Object.entries(value).map(([name, one]) => [name, filled(one, places)]);
  return Object.fromEntries(members) as Value;
}

function filledText(text: string, places: Places): unknown {
  const matches = [...text.matchAll(placeholder)];
  if (matches.length === 1 && matches[0]?.[0] === text) return valueAt(matches[0], places);
  return text.replace(placeholder, (...found) => String(valueAt(found, places)));
}

function valueAt([whole, kind, digits, path = ""]: readonly string[], { farmers, idAt }: Places): unknown {
  const number = Number(digits);
  let value: unknown;
  if (kind !== "farmer") {
    value = idAt(kind as string, number);
    if (value === null || path !== "") return whole;
  } else if (number < farmers.count) {
    const steps = path.split(".").slice(1);
    value = path === "" ? farmers.idOf(number) : memberIn(farmers.at(number), steps);
  }
  if (value !== undefined) return value;
  const message = `Failed to fill in ${whole}: there is no such ${kind}${path === "" ? "" : " or member"}.`;
  throw new SandboxError("unknown_ref", message, { placeholder: whole });
}
