import { isMapping } from "../rules/schema/shape.js";

/** Replaces merge keys (`<<`) of plain data, each value once: the yaml package's own merge takes exponential time. */
export function withMerges(value: unknown, merged = new Map<object, unknown>()): unknown {
  if (typeof value !== "object" || value === null) return value;
  const before = merged.get(value);
  if (before !== undefined) return before;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    merged.set(value, list);
    for (const item of value) list.push(withMerges(item, merged));
    return list;
  }
  // A loop of aliases finds this one, which has no members yet.
  const members: Record<string, unknown> = {};
  merged.set(value, members);
  const { "<<": given, ...own } = value as Record<string, unknown>;
  const sources = [given].flat();
  if (given !== undefined && !sources.every(isMapping)) own["<<"] = given;
  for (const [name, member] of Object.entries(own)) setMember(members, name, withMerges(member, merged));
  for (const source of sources.filter(isMapping)) {
    for (const [name, member] of Object.entries(withMerges(source, merged) as object)) {
      if (!Object.hasOwn(members, name)) setMember(members, name, member);
    }
  }
  return members;
}

/** Also for `__proto__`, which is then rejected by its name. */
function setMember(members: object, name: string, value: unknown): void {
  Object.defineProperty(members, name, { value, configurable: true, enumerable: true, writable: true });
}
