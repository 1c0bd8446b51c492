import type { Place } from "./scenario-source.js";

/** Where a field is: the names of mappings and the positions in lists on the way to it. */
export type Path = readonly (string | number)[];

interface Spot {
  /** Where the value stands; absent when it did not come from a text. */
  readonly place?: Place | undefined;
  /** Where the name of the field stands, for a member of a mapping. */
  readonly keyPlace?: Place | undefined;
}
export interface LocatedScalar extends Spot {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
}
export interface LocatedList extends Spot {
  readonly kind: "list";
  readonly items: readonly Located[];
}
export interface LocatedMapping extends Spot {
  readonly kind: "mapping";
  readonly members: ReadonlyMap<string, Located>;
}

/** A value as it was read, each part with its place in the text. Never changed in place. */
export type Located = LocatedScalar | LocatedList | LocatedMapping;

/** How deep a scenario may nest. The format itself needs seven levels. */
export const maximumDepth = 32;

/** The plain value, made of new objects. */
export function plainOf(located: Located): unknown {
  if (located.kind === "scalar") return located.value;
  if (located.kind === "list") return located.items.map(plainOf);
  // The readers let no "__proto__" through, so that assigning is safe here.
  return Object.fromEntries([...located.members].map(([name, member]) => [name, plainOf(member)]));
}

function childOf(located: Located, step: string | number): Located | undefined {
  if (located.kind === "list") return located.items[Number(step)];
  return located.kind === "mapping" ? located.members.get(String(step)) : undefined;
}

/** Whether there is something at a path. */
export function hasField(root: Located, path: Path): boolean {
  let current: Located | undefined = root;
  for (const step of path) current = current && childOf(current, step);
  return current !== undefined;
}

/**
 * Where to point for a path: at the name or at the value of the field, or else at the nearest enclosing one that
 * has a place.
 */
export function placeAt(root: Located, path: Path, aim: "key" | "value"): Place | undefined {
  let best = root.place;
  let current: Located | undefined = root;
  for (const [index, step] of path.entries()) {
    current = current && childOf(current, step);
    if (current === undefined) break;
    const last = index === path.length - 1;
    best = (last && aim === "value" ? current.place : undefined) ?? current.keyPlace ?? current.place ?? best;
  }
  return best;
}

/**
 * The second laid over the first: mappings are merged name by name, everything else of the second wins.
 * Neither is changed.
 */
export function mergeLocated(under: Located, over: Located): Located {
  if (under.kind !== "mapping" || over.kind !== "mapping") return over;
  const members = new Map(under.members);
  for (const [name, member] of over.members) {
    const inherited = under.members.get(name);
    members.set(name, inherited === undefined ? member : mergeLocated(inherited, member));
  }
  return { ...over, members };
}
