import { SandboxError } from "../../rules/errors.js";
import { redactPath } from "../../rules/redact.js";
import { canonicalJson, memberIn } from "../../rules/schema/json.js";
import type { Members } from "../../rules/schema/messages.js";
import { isMapping } from "../../rules/schema/shape.js";
import { quote } from "../../rules/schema/words.js";
import { placeholder } from "../../scenario/format/fields.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { isoOf } from "../clock.js";
import type { Farmers } from "../population/farmers.js";
import type { Collection, KeptRecord, RecordChange, Records, Rule, Seeded } from "../record.js";
import type { SandboxState } from "../sandbox.js";

// Records of documented endpoints. A request costs the same with any number of them: each owner has its own list, and the
// records that a rule will change are sorted by the time of the change.

/** The maximum size of all records of a sandbox: of each, its JSON and what it takes besides. */
export const maxBytesOfRecords = 4_000_000;
const besideMembers = 400;

/** How many removed records and how many keys of creations a collection remembers. */
const maxRemembered = 10_000;
/** Rules that change a record in turn end here. */
const maxRulesRun = 20;

export function ownerOf({ organization, environment }: Pick<KeptRecord, "organization" | "environment">) {
  return `${organization} ${environment}`;
}

function bytesOf(members: Members | undefined): number {
  return members === undefined ? 0 : besideMembers + new TextEncoder().encode(JSON.stringify(members)).length;
}

/** Whether a sandbox may have a record with these members, in place of those of a record before. */
export function hasRoom(records: Records, members: Members, before?: Members): boolean {
  const more = bytesOf(members) - bytesOf(before);
  const total = [...records.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  return more <= 0 || total + more <= maxBytesOfRecords;
}

/** Whether a value is as wanted: a list has its possible values, an object the members to compare. */
export function matches(value: unknown, wanted: unknown): boolean {
  if (isMapping(wanted)) {
    return (
      isMapping(value) &&
      Object.entries(wanted).every(([name, one]) => Object.hasOwn(value, name) && matches(value[name], one))
    );
  }
  if (Array.isArray(wanted) && !Array.isArray(value)) return wanted.some((one) => matches(value, one));
  return value === wanted || canonicalJson(value) === canonicalJson(wanted);
}

/** Returns the first index of a sorted list whose item is not before. */
export function placeIn<Item>(list: readonly Item[], isBefore: (item: Item) => boolean): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBefore(list[middle] as Item)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** When a rule changes a record; `Infinity` for never. */
export const dueAt = ({ next }: KeptRecord) => (next ? Date.parse(next.at) : Number.POSITIVE_INFINITY);

/** Applies a change to a collection. */
export function applyChange(collection: Collection, { record, removed, key }: RecordChange): void {
  const { form, records, owned, due, ids } = collection;
  const id = removed?.id ?? String(form.idIn(record?.members ?? {}));
  const before = records.get(id);
  const owner = ownerOf(record ?? before ?? { organization: "", environment: "test" });
  const list = owned.get(owner) ?? [];
  const number = record?.number ?? before?.number ?? 0;
  const place = placeIn(list, (one) => one.number < number);
  const dueOf = (one: KeptRecord) =>
    placeIn(
      due,
      (other) => dueAt(other) < dueAt(one) || (dueAt(other) === dueAt(one) && other.number < one.number),
    );
  if (before?.next !== undefined) due.splice(dueOf(before), 1);
  if (record?.next !== undefined) due.splice(dueOf(record), 0, record);
  if (key !== undefined) collection.keys.set(...key);
  collection.bytes += bytesOf(record?.members) - bytesOf(before?.members);
  if (record !== undefined) {
    list.splice(place, before === undefined ? 0 : 1, record);
    owned.set(owner, list);
    records.set(id, record);
    ids.set(number, id);
    collection.made = Math.max(collection.made, number);
  } else if (removed !== undefined) {
    if (before !== undefined) list.splice(place, 1);
    records.delete(id);
    collection.removed.set(id, removed);
    dropFirst(collection.removed, maxRemembered);
    ids.delete(number);
  }
  dropFirst(collection.keys, maxRemembered);
}

function dropFirst(map: Map<string, unknown>, max: number): void {
  if (map.size > max) map.delete(map.keys().next().value as string);
}

/** Makes a change, and announces it. */
export function commitChange(sandbox: SandboxState, change: RecordChange): void {
  const { records, timeline, history } = sandbox;
  applyChange(records.get(change.collection) as Collection, change);
  if (change.record !== undefined) timeline.dueAt = Math.min(timeline.dueAt, dueAt(change.record));
  history.emit({ type: "record.changed", change });
}

/** A record with other members, and the rule that applies to it next. */
export function withMembers(
  { rules }: Pick<Collection, "rules">,
  { next: before, ...record }: Omit<KeptRecord, "updated_at">,
  members: Members,
  at: number,
): KeptRecord {
  const rule = rules.findIndex(({ when, set }) => matches(members, when) && !matches(members, set));
  const isOver = rule === -1 || record.rules_run >= maxRulesRun;
  const next = before?.rule === rule ? before : { rule, at: isoOf(at + (rules[rule]?.after ?? 0)) };
  return { ...record, members, updated_at: isoOf(at), ...(!isOver && { next }) };
}

/** Creates a record of an owner, without adding it. */
export function draftRecord(
  sandbox: Seeded,
  collection: Collection,
  owner: Pick<KeptRecord, "organization" | "environment">,
  at: number,
  given: readonly Members[],
  number = collection.made + 1,
  pinned: unknown = collection.ids.get(number),
): KeptRecord {
  const { form, records, removed } = collection;
  const isTaken = (id: unknown) => records.has(String(id)) || removed.has(String(id));
  let id = pinned ?? form.idOf(sandbox, number);
  for (let attempt = 1; pinned === undefined && isTaken(id) && attempt < 100; attempt++)
    id = form.idOf(sandbox, number, attempt);
  const members = form.make(sandbox, id as string, at, given);
  return withMembers(
    collection,
    { ...owner, number, created_at: isoOf(at), rules_run: 0, members },
    members,
    at,
  );
}

/** When a rule next changes a record; `Infinity` for never. */
export function nextRuleAt(records: Records): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { due } of records.values()) if (due[0] !== undefined) next = Math.min(next, dueAt(due[0]));
  return next;
}

/** Runs the rules that are due up to an instant, each at its own. */
export function runRules(sandbox: SandboxState, until: number): void {
  for (const [name, collection] of sandbox.records) {
    const { due, rules, form } = collection;
    for (let record = due[0]; record?.next !== undefined && dueAt(record) <= until; record = due[0]) {
      const [at, { rule }] = [dueAt(record), record.next];
      const members = form.change(record.members, at, [(rules[rule] as Rule).set]);
      const isFine = form.problemOf(sandbox, members) === undefined;
      const { next: _, ...rest } = record;
      const changed = { ...rest, rules_run: isFine ? record.rules_run + 1 : maxRulesRun };
      const next = withMembers(collection, changed, isFine ? members : record.members, at);
      commitChange(sandbox, { collection: name, record: next, isByRule: true });
    }
  }
}

/** Describes the records as the fields of a scenario that restore them. */
export function describeRecords({
  scenario,
  records,
}: Pick<SandboxState, "scenario" | "records">): Pick<Scenario, "records"> {
  if (records.size === 0) return {};
  const described = [...records].map(([name, { made, records: all, removed, keys }]) => {
    const { start: _, ...fields } = scenario.records?.[name] ?? {};
    const kept = {
      made,
      records: [...all.values()],
      removed: [...removed.values()],
      keys: Object.fromEntries(keys),
    };
    return [name, { ...fields, kept }] as const;
  });
  return { records: Object.fromEntries(described) as NonNullable<Scenario["records"]> };
}

/** Fills in the placeholders of a step; without records, a text stays. Throws `unknown_ref`. */
export function fillIn<Value>(
  { records, farmers }: Pick<SandboxState, "records" | "farmers">,
  value: Value,
): Value {
  if (records.size === 0) return value;
  const idAt: IdAt = (name, number) => {
    const collection = records.get(name);
    return collection === undefined ? null : collection.ids.get(number);
  };
  return filled(value, { farmers, idAt });
}

/** Returns why an owner does not have a record, for people. */
export function whyUnknown({ form, records, removed }: Collection, id: string, owner: string): string {
  const [what, other, gone] = [
    `${form.collection} ${quote(redactPath(id))}`,
    records.get(id),
    removed.get(id),
  ];
  if (gone !== undefined) return `${what} was removed at ${gone.at}`;
  if (other === undefined)
    return `${what} was never created${removed.size < maxRemembered ? "" : ", or removed long ago"}`;
  return owner.startsWith(`${other.organization} `)
    ? `${what} belongs to the environment ${other.environment}`
    : `${what} belongs to another organization, ${other.organization}`;
}

/** The id of the nth record of a collection; `undefined` if it does not exist, `null` for no collection. */
export type IdAt = (collection: string, number: number) => string | undefined | null;

export interface Places {
  readonly farmers: Farmers;
  readonly idAt: IdAt;
}

/**
 * Replaces placeholders in plain data: `{farmer.0}` is a farmer's id, `{farmer.0.name}` a member, `{loans.1}` the id of a
 * record. A text that is only a member keeps the member's type. Throws `unknown_ref` for a number or a member that does
 * not exist; other texts in braces stay.
 */
export function filled<Value>(value: Value, places: Places): Value {
  if (typeof value === "string") return filledText(value, places) as Value;
  if (Array.isArray(value)) return value.map((one) => filled(one, places)) as Value;
  if (!isMapping(value)) return value;
  const members = Object.entries(value).map(([name, one]) => [name, filled(one, places)]);
  return Object.fromEntries(members) as Value;
}

function filledText(text: string, places: Places): unknown {
  const matches = [...text.matchAll(placeholder)];
  if (matches.length === 1 && matches[0]?.[0] === text) return valueAt(matches[0], places);
  return text.replace(placeholder, (...found) => String(valueAt(found, places)));
}

function valueAt([whole, kind, digits, path = ""]: readonly string[], { farmers, idAt }: Places): unknown {
  const number = Number(digits);
  let value: unknown;
  if (kind !== "farmer") {
    value = idAt(kind as string, number);
    if (value === null || path !== "") return whole;
  } else if (number < farmers.count) {
    const steps = path.split(".").slice(1);
    value = path === "" ? farmers.idOf(number) : memberIn(farmers.at(number), steps);
  }
  if (value !== undefined) return value;
  const message = `Failed to fill in ${whole}: there is no such ${kind}${path === "" ? "" : " or member"}.`;
  throw new SandboxError("unknown_ref", message, { placeholder: whole });
}
