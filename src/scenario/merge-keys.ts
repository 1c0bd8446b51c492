import type { Members } from "../rules/schema/messages.js";
import { isMapping } from "../rules/schema/shape.js";

// Each value once: the yaml package's own merge takes exponential time.

/** Replaces merge keys (`<<`) of plain data. Returns `undefined` if that compares more than `max` names. */
export function withMerges(value: unknown, max: number): unknown {
  const room = { left: max };
  const whole = mergedIn(value, new Map(), room);
  return room.left < 0 ? undefined : whole;
}

function mergedIn(value: unknown, merged: Map<object, unknown>, room: { left: number }): unknown {
  if (typeof value !== "object" || value === null || room.left < 0) return value;
  const before = merged.get(value);
  if (before !== undefined) return before;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    merged.set(value, list);
    for (const item of value) list.push(mergedIn(item, merged, room));
    return list;
  }
  // A loop of aliases finds this one, which has no members yet.
  const members: Record<string, unknown> = {};
  merged.set(value, members);
  const { "<<": merge, ...written } = value as Record<string, unknown>;
  const sources = [merge].flat();
  if (merge !== undefined && !sources.every(isMapping)) written["<<"] = merge;
  for (const [name, member] of Object.entries(written))
    setMember(members, name, mergedIn(member, merged, room));
  for (const source of sources.filter(isMapping)) {
    const inherited = mergedIn(source, merged, room) as object;
    for (const name in inherited) {
      if (--room.left < 0) return members;
      if (!Object.hasOwn(members, name)) setMember(members, name, (inherited as Members)[name]);
    }
  }
  return members;
}

/** Also for `__proto__`, which is then rejected by its name. */
function setMember(members: object, name: string, value: unknown): void {
  Object.defineProperty(members, name, { value, configurable: true, enumerable: true, writable: true });
}
