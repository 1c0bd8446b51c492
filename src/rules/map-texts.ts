import { isPlainObject } from "../schema/type-tag.js";
import { quote } from "../schema/words.js";

/** Whether the value of a member stays as it is. */
type IsKept = (name: string, member: unknown) => boolean;

/**
 * Plain data with each text and each member name changed, except in the values of kept members. No other text is left: what is
 * no plain data becomes what messages call it, such as `a Map`, and a value inside itself becomes `[circular]`.
 */
export function mapTexts<Value>(
  value: Value,
  change: (text: string) => string,
  isKept: IsKept = () => false,
): Value {
  return mapInside(value, change, isKept, []) as Value; // plain data keeps its members
}

/** `holders` are the values that this value is in, from the outside in. */
function mapInside(
  value: unknown,
  change: (text: string) => string,
  isKept: IsKept,
  holders: readonly unknown[],
): unknown {
  if (typeof value === "string") return change(value);
  const mayHaveText = ["object", "function", "symbol"].includes(typeof value);
  if (!mayHaveText || value === null) return value;
  if (holders.includes(value)) return "[circular]";

  const inner = [...holders, value];
  if (Array.isArray(value)) return Array.from(value, (item) => mapInside(item, change, isKept, inner));
  if (!isPlainObject(value)) return change(quote(value));

  const members: [name: string, member: unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const changed = isKept(name, member) ? member : mapInside(member, change, isKept, inner);
    members.push([change(name), changed]);
  }
  return Object.fromEntries(members);
}
