import { SandboxError } from "../../rules/errors.js";
import { requireFields } from "../../rules/schema/check.js";
import type { Members } from "../../rules/schema/messages.js";
import { knownRefsHint, quote } from "../../rules/schema/words.js";
import { isoOf } from "../clock.js";
import type { Collection, KeptRecord } from "../record.js";
import {
  commitChange,
  draftRecord,
  fillIn,
  hasRoom,
  matches,
  maxBytesOfRecords,
  withMembers,
} from "../records/records.js";
import { newRecord } from "../records/start-records.js";
import type { SandboxState } from "../sandbox.js";
import type { StepAction } from "../steps.js";
import type { RecordView } from "../view-shapes.js";

export type RecordInput = NonNullable<StepAction["record"]>;

/** Throws `unknown_ref`, `record_limit_reached`, and `validation_failed` for a record that responses could not show. */
export function changeRecord(
  sandbox: SandboxState,
  { in: name, id, set, add, remove }: RecordInput,
  now: number,
): { readonly record: RecordView } {
  const collection = collectionNamed(sandbox, name);
  if (add !== undefined) return { record: addRecord(sandbox, collection, fillIn(sandbox, add), now) };
  const record = recordWith(sandbox, collection, String(fillIn(sandbox, id)));
  if (remove !== undefined) {
    const removed = { number: record.number, id: idOf(collection, record), at: isoOf(now) };
    commitChange(sandbox, { collection: name, removed });
    return { record: viewRecord(collection, record) };
  }
  const changes = fillIn(sandbox, set ?? {}) as Members;
  const members = collection.form.change(record.members, now, [changes]);
  requireValid(sandbox, collection, changes, members);
  requireRoom(sandbox, members, record.members);
  const next = withMembers(collection, record, members, now);
  commitChange(sandbox, { collection: name, record: next });
  return { record: viewRecord(collection, next) };
}

function addRecord(
  sandbox: SandboxState,
  collection: Collection,
  given: NonNullable<RecordInput["add"]>,
  now: number,
): RecordView {
  const { form, records, set } = collection;
  const { owner, at, members } = newRecord(sandbox.scenario, given, now);
  sandbox.registry.organization(owner.organization);
  const record = draftRecord(sandbox, collection, owner, at, [set, members], undefined, form.idIn(members));
  const id = idOf(collection, record);
  requireFields("add the record", { id: records.has(id) ? `${quote(id)} is another record's` : undefined });
  requireValid(sandbox, collection, members, record.members);
  requireRoom(sandbox, record.members);
  commitChange(sandbox, { collection: form.collection, record });
  return viewRecord(collection, record);
}

function requireValid(sandbox: SandboxState, { form }: Collection, given: Members, members: Members): void {
  const problem = form.unknownIn(given) ?? form.problemOf(sandbox, members);
  if (problem !== undefined)
    throw new SandboxError("validation_failed", `Failed to change ${form.collection}: ${problem}.`, {
      fields: { members: problem },
    });
}

function requireRoom({ records }: SandboxState, members: Members, before?: Members): void {
  if (hasRoom(records, members, before)) return;
  const max = maxBytesOfRecords;
  const message = `Failed to store a record: those of a sandbox have at most ${max} bytes in all. Remove some.`;
  throw new SandboxError("record_limit_reached", message, { max });
}

const idOf = ({ form }: Collection, { members }: KeptRecord) => String(form.idIn(members));

/** The collection of a sandbox; throws `unknown_ref`. */
function collectionNamed({ name, records }: SandboxState, collection: string): Collection {
  const match = records.get(collection);
  if (match !== undefined) return match;
  const hint = records.size === 0 ? "it has no records" : knownRefsHint(collection, records, "collections");
  const message = `Unknown collection ${quote(collection)} in ${name}: ${hint}.`;
  throw new SandboxError("unknown_ref", message, { kind: "collection", known: [...records.keys()] });
}

function recordWith({ name }: SandboxState, { form, records }: Collection, id: string): KeptRecord {
  const record = records.get(id);
  if (record !== undefined) return record;
  const message = `Unknown record ${quote(id)} of ${form.collection} in ${name}.`;
  throw new SandboxError("unknown_ref", message, { kind: form.collection, id });
}

/** The records of a collection, in the order of creation. */
export function listRecords(sandbox: SandboxState, name: string, offset = 0, limit?: number) {
  const collection = collectionNamed(sandbox, name);
  const records = [...collection.records.values()];
  return records.slice(offset, limit && offset + limit).map((one) => viewRecord(collection, one));
}

function viewRecord(collection: Collection, record: KeptRecord): RecordView {
  const { form, rules, moves } = collection;
  const { number, organization, environment, next, members } = record;
  const possible = Object.entries(moves).filter(([, { when }]) => matches(members, when));
  return {
    collection: form.collection,
    id: idOf(collection, record),
    number,
    organization,
    environment,
    createdAt: record.created_at,
    updatedAt: record.updated_at,
    next: next === undefined ? null : { at: next.at, set: { ...rules[next.rule]?.set } },
    moves: possible.map(([operation, { set }]) => ({ operation, set: { ...set } })),
    members: { ...members },
  };
}
