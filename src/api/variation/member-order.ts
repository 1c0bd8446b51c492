import type { RandomStream } from "../../domain/seed.js";

/** An order in which members can be written. */
export type MemberOrder = "reversed" | "sorted" | "shuffled";

/** The same value with the members of all its objects in another order; lists stay as they are. */
export function inOrder<Value>(value: Value, order: MemberOrder, draw: RandomStream): Value {
  if (Array.isArray(value)) return value.map((item) => inOrder(item, order, draw)) as Value;
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).map(
    ([name, member]) => [name, inOrder(member, order, draw)] as const,
  );
  return Object.fromEntries(arranged(members, order, draw)) as Value;
}

/** The items in another order; those that are sorted are so by their names. */
export function arranged<Item extends readonly [name: string, value: unknown]>(
  items: readonly Item[],
  order: MemberOrder,
  draw: RandomStream,
): Item[] {
  const next = [...items];
  if (order === "reversed") return next.reverse();
  if (order === "sorted") return next.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  for (let last = next.length - 1; last > 0; last--) {
    const chosen = draw() % (last + 1);
    [next[last], next[chosen]] = [next[chosen] as Item, next[last] as Item];
  }
  return next;
}
