import { isMapping, type MappingKind, type Shape, shapeOf } from "../../rules/schema/shape.js";
import { type RandomStream, randomStream } from "../../rules/seed.js";

export interface Draft {
  readonly status: number;
  /** The body as a value, until a row has serialized it. */
  body: Body;
  /** The serialized body; empty until a row has serialized it. */
  text: string;
  /** If there is a `Content-Length`, its value is corrected at the end. */
  headers: readonly Header[];
  readonly shape?: Shape | undefined;
}

interface Body {
  readonly data?: {
    readonly [name: string]: unknown;
    readonly organization: { name: string };
    readonly scopes: string[];
    readonly limits: object;
    readonly usage: object;
  };
  readonly error?: object;
}

type Header = readonly [name: string, value: string];

export type Edit = (draft: Draft, random: RandomStream) => void;

export function dataMembers(added: object, member?: "limits" | "usage"): Edit {
  return ({ body: { data } }) => {
    if (data !== undefined) Object.assign(member === undefined ? data : data[member], added);
  };
}

export function moreMembers(added: object): Edit {
  return inDocumented((value, { isOpen, fields }) => {
    const newMembers = Object.entries(added).filter(([name]) => isOpen && !Object.hasOwn(fields, name));
    return { ...value, ...Object.fromEntries(newMembers) };
  });
}

export function fewerMembers(isLeftOut: (random: RandomStream) => boolean): Edit {
  return inDocumented((value, { fields }, random) => {
    const isKept = (name: string) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return field === undefined || !("optional" in field) || !isLeftOut(random);
    };
    return Object.fromEntries(Object.entries(value).filter(([name]) => isKept(name)));
  });
}

function inDocumented(change: (value: object, shape: MappingKind, random: RandomStream) => object): Edit {
  const inside = (value: unknown, shape: Shape | undefined, random: RandomStream): unknown => {
    if (shape?.kind === "list" && Array.isArray(value)) {
      return value.map((item) => inside(item, shape.item, random));
    }
    if (shape?.kind !== "mapping" || !isMapping(value)) return value;
    const members = Object.entries(value).map(([name, member]) => {
      const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      return [name, inside(member, field && shapeOf(field), random)];
    });
    return change(Object.fromEntries(members), shape, random);
  };
  return (draft, random) => {
    draft.body = inside(draft.body, draft.shape, random) as Body;
  };
}

export function errorMembers(added: object): Edit {
  return ({ body }) => void Object.assign(body.error ?? {}, added);
}

export function headers(...added: readonly Header[]): Edit {
  return (draft) => {
    draft.headers = [...draft.headers, ...added];
  };
}

export function headerValue(wanted: string, rewrite: (value: string) => string): Edit {
  return (draft) => {
    draft.headers = draft.headers.map(([name, value]) => [name, name === wanted ? rewrite(value) : value]);
  };
}

export function withoutHeader(unwanted: string): Edit {
  return (draft) => {
    draft.headers = draft.headers.filter(([name]) => name !== unwanted);
  };
}

export function headerNames(spell: (name: string) => string): Edit {
  return (draft) => {
    draft.headers = draft.headers.map(([name, value]) => [spell(name), value]);
  };
}

type Arrange = <Item extends readonly [name: string, value: unknown]>(
  items: readonly Item[],
  random: RandomStream,
) => Item[];

export function headerOrder(arrange: Arrange): Edit {
  return (draft, random) => {
    draft.headers = arrange(draft.headers, random);
  };
}

/** Changes the order of members in all objects of the body, but not of lists. */
export function memberOrder(arrange: Arrange): Edit {
  const inOrder = <Value>(value: Value, random: RandomStream): Value => {
    if (Array.isArray(value)) return value.map((item) => inOrder(item, random)) as Value;
    if (value === null || typeof value !== "object") return value;
    const members = Object.entries(value).map(([name, member]) => [name, inOrder(member, random)] as const);
    return Object.fromEntries(arrange(members, random)) as Value;
  };
  return (draft, random) => {
    draft.body = inOrder(draft.body, random);
  };
}

export function reversed<Item>(items: readonly Item[]): Item[] {
  return [...items].reverse();
}

export function sorted<Item extends readonly [name: string, value: unknown]>(items: readonly Item[]): Item[] {
  return [...items].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}

/** The order of two items does not depend on others, so that another row does not change it. */
export function shuffled<Item extends readonly [name: string, value: unknown]>(
  items: readonly Item[],
  random: RandomStream,
): Item[] {
  const salt = random();
  return items
    .map((item) => ({ item, place: randomStream(salt, "place", item[0])() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

export function written(write: (body: Body) => string): Edit {
  return (draft) => {
    draft.text = write(draft.body);
  };
}

// Strings are matched first, so that a colon or comma inside a string is not treated as a token.
export function spaced(body: Body): string {
  const text = JSON.stringify(body);
  return text.replace(/("(?:[^"\\]|\\.)*")|[:,]/g, (found, string) => string ?? `${found} `);
}

/** In JSON, only characters in strings have two spellings, so the whole text can change. */
export function spelled(which: RegExp, spell: (found: string) => string): Edit {
  return (draft) => {
    draft.text = draft.text.replace(which, spell);
  };
}

export function unicodeEscapes(found: string): string {
  return found
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
