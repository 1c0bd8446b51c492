/** Whether the value of a member stays as it is. */
type IsKept = (name: string, member: unknown) => boolean;

/** Plain data with each text and each member name changed, except in the values of kept members. */
export function mapTexts<Value>(
  value: Value,
  change: (text: string) => string,
  isKept: IsKept = () => false,
): Value {
  if (typeof value === "string") return change(value) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, isKept)) as Value;

  const members: [name: string, member: unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const changed = isKept(name, member) ? member : mapTexts(member, change, isKept);
    members.push([change(name), changed]);
  }
  return Object.fromEntries(members) as Value;
}
