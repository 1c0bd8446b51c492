import {
  defaultLimits,
  defaultOverlap,
  defaultScopes,
  type KeyEnds,
  type KeySettings,
  type KeyStateName,
} from "../../spec/api-key.js";
import {
  count,
  instant,
  list,
  mapping,
  nullable,
  type Optional,
  ofSnapshots,
  optional,
  type Shape,
  text,
} from "../../spec/schema/shape.js";
import type { Scenario } from "../scenario.generated.js";
import {
  limits,
  maximumScopes,
  parseWhen,
  scope,
  shortText,
  time,
  timeFrom,
  timeOrDuration,
  type When,
} from "./fields.js";

type WrittenKey = NonNullable<NonNullable<Scenario["organizations"]>[string]["keys"]>[string];
type Loose<Value> = Value extends readonly (infer Item)[]
  ? readonly Item[]
  : Value extends object
    ? { readonly [Name in keyof Value]?: Loose<Value[Name]> | undefined }
    : Value;
export type WrittenSettings = Loose<Pick<WrittenKey, keyof KeySettings>>;

// A new setting is a member of each of these, which the compiler requires.

export const settingFields = {
  name: optional(shortText()),
  scopes: optional(list(scope(), { least: 1, most: maximumScopes })),
  limits: optional(limits),
} satisfies Readonly<Record<keyof KeySettings, Optional>>;
export const settingNames = Object.keys(settingFields) as (keyof KeySettings)[];

export const creationFields = {
  name: shortText(),
  // An empty list and an unknown scope have their own error codes (R29).
  scopes: optional(list(scope())),
  limits: settingFields.limits,
} satisfies Readonly<Record<keyof KeySettings, Shape | Optional>>;

/** The members in lists of keys. */
export const settingShapes = {
  name: text(),
  scopes: list(text()),
  limits: mapping({ perMinute: count(), perDay: count() }),
} satisfies { readonly [Name in keyof KeySettings]: Shape<KeySettings[Name]> };

/** Returns the settings for a key's record; `invented` is the name that the seed generates. */
export function readSettings(written: WrittenSettings, invented: () => string): KeySettings {
  const { name = invented(), scopes = defaultScopes, limits } = written;
  // One object for the many keys of a population.
  if (limits === undefined) return { name, scopes, limits: defaultLimits };
  const { per_minute: perMinute = defaultLimits.perMinute, per_day: perDay = defaultLimits.perDay } = limits;
  return { name, scopes, limits: { perMinute, perDay } };
}

export function writeSettings({ name, scopes, limits }: KeySettings) {
  const { perMinute, perDay } = limits;
  return {
    name,
    scopes: [...scopes],
    limits: { per_minute: perMinute, per_day: perDay },
  } satisfies Record<keyof KeySettings, unknown>;
}

/** Returns a copy of the settings of a record, for lists and for a replacement. */
export function settingsOf({ name, scopes, limits }: KeySettings): KeySettings {
  return { name, scopes: [...scopes], limits: { ...limits } };
}

/** Returns the settings of keys that share them (R37): the first value of each, and of each limit. */
export function sharedSettings(written: readonly WrittenSettings[]) {
  const all = written.flatMap(({ limits }) => limits ?? []);
  return {
    name: written.find(({ name }) => name !== undefined)?.name,
    scopes: written.find(({ scopes }) => scopes !== undefined)?.scopes,
    limits: all.length === 0 ? undefined : Object.assign({}, ...all.reverse()),
  } satisfies Required<WrittenSettings>;
}

/** The times that end a key: each one's field in a scenario. In a record they are instants, in lists texts or `null`. */
export const keyEnds = {
  revokedAt: { field: "revoked_at", shape: ofSnapshots(time()) },
  expiresAt: { field: "expires", shape: optional(timeOrDuration()) },
  overlapEndsAt: { field: "overlap_ends", shape: optional(timeOrDuration()) },
} as const satisfies Readonly<
  Record<keyof KeyEnds, { field: keyof WrittenKey; shape: Optional<Shape<string>> }>
>;

type EndRow = (typeof keyEnds)[keyof KeyEnds];
const endRows = Object.entries(keyEnds) as [keyof KeyEnds, EndRow][];

export function ofEachEnd<Value>(make: (name: keyof KeyEnds) => Value) {
  return Object.fromEntries(endRows.map(([name]) => [name, make(name)])) as Record<keyof KeyEnds, Value>;
}

export const endFields = Object.fromEntries(endRows.map(([, { field, shape }]) => [field, shape])) as {
  readonly [Row in EndRow as Row["field"]]: Row["shape"];
};
export const endShapes = ofEachEnd(() => nullable(instant()));

export function writeEnds(ends: KeyEnds, write: (instant: number) => string) {
  const written = endRows.map(([name, { field }]) => [field, ends[name]] as const);
  return Object.fromEntries(written.map(([field, at]) => [field, at === undefined ? at : write(at)])) as {
    readonly [Field in EndRow["field"]]: string | undefined;
  };
}

/** What ends a scenario's key, read, but without a start for its durations. */
export interface GivenEnds {
  readonly state: KeyStateName;
  readonly isReplaced: boolean;
  readonly times: { readonly [Name in keyof KeyEnds]?: When };
}

export function readEnds(key: WrittenKey): GivenEnds | undefined {
  const { state = "active" } = key;
  const given = endRows.flatMap(([name, { field }]) => {
    const when = parseWhen(key[field] ?? "");
    return when === undefined ? [] : [[name, when]];
  });
  if (state === "active" && given.length === 0) return undefined;
  // A replaced key can expire or be revoked before its overlap ends.
  const isReplaced = state === "retiring" || state === "rotated" || key.replaced_by !== undefined;
  return { state, isReplaced, times: Object.fromEntries(given) };
}

/** Returns the ends of a key whose durations count from `start`: the given ones, or those of its state. */
export function endsFrom(start: number, { state, isReplaced, times }: GivenEnds): KeyEnds {
  const at = (when: When | undefined) => (when === undefined ? undefined : timeFrom(start, when));
  const expiresAt = at(times.expiresAt) ?? (state === "expired" ? start : undefined);
  const usual = { active: undefined, retiring: start + defaultOverlap, rotated: start, revoked: start };
  const overlap = at(times.overlapEndsAt) ?? { ...usual, expired: expiresAt }[state];
  return {
    ...(state === "revoked" && { revokedAt: at(times.revokedAt) ?? start }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(isReplaced && overlap !== undefined && { overlapEndsAt: overlap }),
  };
}
