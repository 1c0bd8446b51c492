import type { Members } from "../rules/schema/messages.js";
import type { Scenario } from "../scenario/scenario.generated.js";

// A record of a documented endpoint, its collection, and what the document defines about them.

export type CollectionFields = NonNullable<Scenario["records"]>[string];
export type NewRecordFields = NonNullable<CollectionFields["start"]>[number];

/** What the document of a sandbox defines about a collection. */
export interface RecordForm {
  readonly collection: string;
  /** Returns an id in the format of the schema, or `undefined` if it has none for this number; the same for a seed. */
  readonly idOf: (sandbox: Seeded, number: number, attempt?: number) => string | number;
  /** The id in the members of a record. */
  readonly idIn: (members: Members) => unknown;
  /** Returns the members of a new record: a sample, then those of `given` that responses have. */
  readonly make: (sandbox: Seeded, id: string | number, at: number, given: readonly Members[]) => Members;
  /** Returns the members with changes, deep in objects; `isWhole` drops others that a client could have sent. */
  readonly change: (members: Members, at: number, given: readonly Members[], isWhole?: boolean) => Members;
  /** Returns why a response with these members would not be valid; `undefined` if all would be. */
  readonly problemOf: (sandbox: Seeded, members: Members) => string | undefined;
  /** Returns why the responses do not have one of these members; `undefined` if they have all. */
  readonly unknownIn: (members: Members) => string | undefined;
}

/** What samples depend on. */
export interface Seeded {
  readonly seed: number;
  readonly scenario: Scenario;
  /** The group of its ids, as of request ids: a start gives no id that another start gave. Default: none. */
  readonly idGroup?: number | undefined;
}

type Kept = NonNullable<CollectionFields["kept"]>;

/** A record, never changed in place. */
export type KeptRecord = Omit<Kept["records"][number], "members"> & { readonly members: Members };
export type RemovedRecord = Kept["removed"][number];
/** The request that an `Idempotency-Key` has created a record with. */
export type KeyedCreation = Kept["keys"][string];

/** A change of a collection as plain data: a new state of a record, or its removal. */
export interface RecordChange {
  readonly collection: string;
  readonly record?: KeptRecord;
  readonly removed?: RemovedRecord;
  /** The `Idempotency-Key` of its creation, with its owner. */
  readonly key?: readonly [key: string, creation: KeyedCreation] | undefined;
  /** Whether a rule made it, which would run again in a restored sandbox. */
  readonly isByRule?: true;
}

export interface Rule {
  /** Milliseconds since it started to apply. */
  readonly after: number;
  readonly when: Members;
  readonly set: Members;
}

export interface Collection {
  readonly form: RecordForm;
  /** Members of each new record, operations that change a record, and rules, without placeholders. */
  readonly set: Members;
  readonly moves: Readonly<Record<string, Omit<Rule, "after">>>;
  readonly rules: readonly Rule[];
  /** The number of the last record. */
  made: number;
  readonly records: Map<string, KeptRecord>;
  /** By number. */
  readonly ids: Map<number, string>;
  /** By owner, in the order of creation. */
  readonly owned: Map<string, KeptRecord[]>;
  /** What they take of the limit. */
  bytes: number;
  /** In the order of their next rule. */
  readonly due: KeptRecord[];
  readonly removed: Map<string, RemovedRecord>;
  readonly keys: Map<string, KeyedCreation>;
}

export type Records = ReadonlyMap<string, Collection>;
