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
/** Settings in a scenario or in an input. */
export type WrittenSettings = Loose<Pick<WrittenKey, keyof KeySettings>>;
type Written<Name extends keyof KeySettings> = NonNullable<WrittenSettings[Name]>;

/** One setting of a key, in each of its forms. */
interface SettingRow<Name extends keyof KeySettings> {
  /** The field of a scenario's key. */
  readonly field: Optional;
  /** The field for creating a key, in a step or through the control plane. */
  readonly creation: Shape<Written<Name>> | Optional<Shape<Written<Name>>>;
  /** In lists of keys. */
  readonly view: Shape<KeySettings[Name]>;
  /** The value in a key's record, or its default; `invented` is the name that the seed generates. */
  readonly read: (written: Written<Name> | undefined, invented: () => string) => KeySettings[Name];
  readonly write: (value: KeySettings[Name]) => Written<Name>;
}

/**
 * The settings of a key. The keys of a rotation have the same ones (R37). A new setting is a row here, and a member of
 * `KeySettings`.
 */
export const keySettings = {
  name: {
    field: optional(shortText()),
    creation: shortText(),
    view: text(),
    read: (written, invented) => written ?? invented(),
    write: (name) => name,
  },
  scopes: {
    field: optional(list(scope(), { least: 1, most: maximumScopes })),
    // An empty list and an unknown scope have their own error codes (R29).
    creation: optional(list(scope())),
    view: list(text()),
    read: (written = defaultScopes) => written,
    write: (scopes) => [...scopes],
  },
  limits: {
    field: optional(limits),
    creation: optional(limits),
    view: mapping({ perMinute: count(), perDay: count() }),
    // One object for the many keys of a population.
    read: (written) =>
      written === undefined
        ? defaultLimits
        : {
            perMinute: written.per_minute ?? defaultLimits.perMinute,
            perDay: written.per_day ?? defaultLimits.perDay,
          },
    write: ({ perMinute, perDay }) => ({ per_minute: perMinute, per_day: perDay }),
  },
} as const satisfies { readonly [Name in keyof KeySettings]: SettingRow<Name> };

type Rows = typeof keySettings;
export type SettingName = keyof Rows;
export const settingNames = Object.keys(keySettings) as SettingName[];

/** Returns something of each row, by the name of the setting. */
function ofEach<Column extends keyof SettingRow<"name">>(column: Column) {
  const columns = settingNames.map((name) => [name, keySettings[name][column]]);
  return Object.fromEntries(columns) as { readonly [Name in SettingName]: Rows[Name][Column] };
}

export const settingFields = ofEach("field");
export const creationFields = ofEach("creation");
export const settingShapes = ofEach("view");

/** Returns the settings for a key's record. */
export function readSettings(written: WrittenSettings, invented: () => string): KeySettings {
  const settings: Record<string, unknown> = {};
  for (const name of settingNames) settings[name] = keySettings[name].read(written[name] as never, invented);
  return settings as unknown as KeySettings;
}

/** Returns the settings of a record as scenarios write them. */
export function writeSettings(settings: KeySettings): Required<Pick<WrittenKey, SettingName>> {
  const written = settingNames.map((name) => [name, keySettings[name].write(settings[name] as never)]);
  return Object.fromEntries(written) as ReturnType<typeof writeSettings>;
}

/** Returns a copy of the settings of a record, for lists and for a replacement. */
export function settingsOf(settings: KeySettings): KeySettings {
  return structuredClone(
    Object.fromEntries(settingNames.map((name) => [name, settings[name]])),
  ) as unknown as KeySettings;
}

/** Returns the settings of keys that share them: the first value of each, and of each member of a mapping. */
export function sharedSettings(written: readonly WrittenSettings[]): WrittenSettings {
  const shared: Record<string, unknown> = {};
  for (const name of settingNames) {
    const values = written.map((one) => one[name]).filter((value) => value !== undefined);
    const isMerged = values.length > 1 && settingFields[name].optional.kind === "mapping";
    if (values.length > 0) shared[name] = isMerged ? Object.assign({}, ...values.reverse()) : values[0];
  }
  return shared;
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

/** Returns something for each time that ends a key. */
export function ofEachEnd<Value>(make: (name: keyof KeyEnds) => Value) {
  return Object.fromEntries(endRows.map(([name]) => [name, make(name)])) as Record<keyof KeyEnds, Value>;
}

export const endFields = Object.fromEntries(endRows.map(([, { field, shape }]) => [field, shape])) as {
  readonly [Row in EndRow as Row["field"]]: Row["shape"];
};
export const endShapes = ofEachEnd(() => nullable(instant()));

/** Returns the fields of a scenario's key for the ends of a record. */
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

/** Reads what ends a key; `undefined` for a key without an end. */
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
