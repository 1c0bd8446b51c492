import { type RandomStream, randomStream } from "../../rules/seed.js";

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
