/** Whether the value of a member stays as it is. */
type IsKept = (name: string, member: unknown) => boolean;

/**
 * Plain data with each text and each member name changed, except in the values of kept members. What is no plain data stays
 * as it is, and so does a value inside itself.
 */
export function mapTexts<Value>(
  value: Value,
  change: (text: string) => string,
  isKept: IsKept = () => false,
): Value {
  return mapInside(value, change, isKept, []) as Value; // its texts are texts again
}

/** `holders` are the values that this value is in, from the outside in. */
function mapInside(
  value: unknown,
  change: (text: string) => string,
  isKept: IsKept,
  holders: readonly unknown[],
): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null || holders.includes(value)) return value;
  const inner = [...holders, value];
  if (Array.isArray(value)) return value.map((item) => mapInside(item, change, isKept, inner));
  if (!isPlainObject(value)) return value;

  const members: [name: string, member: unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const changed = isKept(name, member) ? member : mapInside(member, change, isKept, inner);
    members.push([change(name), changed]);
  }
  return Object.fromEntries(members);
}

/** Whether an object has no class. It may have no prototype, or that of another realm, such as a frame or a VM. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
