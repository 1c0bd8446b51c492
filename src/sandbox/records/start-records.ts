import { SandboxError } from "../../rules/errors.js";
import type { Members } from "../../rules/schema/messages.js";
import type { Path } from "../../rules/schema/shape.js";
import { timeFrom } from "../../scenario/format/fields.js";
import type { ScenarioMistake } from "../../scenario/problems.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { Farmers } from "../population/farmers.js";
import type {
  Collection,
  CollectionFields,
  NewRecordFields,
  RecordForm,
  Records,
  Seeded,
} from "../record.js";
import type { ServedEndpoint } from "../sandbox.js";
import { applyChange, draftRecord, filled, type IdAt, type Places } from "./records.js";

type Report = (mistake: ScenarioMistake & { readonly hint: string }) => void;

/** Creates the records of a scenario; reports values that are not valid in responses. */
export function startRecords(
  scenario: Scenario,
  endpoints: readonly ServedEndpoint[],
  { seed, farmers, start }: { readonly seed: number; readonly farmers: Farmers; readonly start: number },
  report: Report = () => {},
): Records {
  const sandbox = { seed, scenario };
  const forms = new Map(
    endpoints.flatMap(({ form }) => (form === undefined ? [] : [[form.collection, form]])),
  );
  const collections = Object.entries(scenario.records ?? {}).flatMap(([name, fields]) => {
    const form = forms.get(name);
    return form === undefined ? [] : [{ form, fields }];
  });
  const idAt: IdAt = (name, number) => {
    const owner = collections.find(({ form }) => form.collection === name);
    if (owner === undefined) return null;
    const { form, fields } = owner;
    const saved = fields.kept?.records.find((one) => one.number === number);
    const members = saved?.members ?? fields.start?.[number - 1];
    return members === undefined ? undefined : String(form.idIn(members) ?? form.idOf(sandbox, number));
  };
  const records = new Map<string, Collection>();
  for (const { form, fields } of collections) {
    const wrong = reporter(form, sandbox, report);
    const fill = filler({ farmers, idAt }, wrong.report);
    const collection = emptyCollection(form, fields, fill);
    checkChanges(collection, wrong);
    if (fields.kept !== undefined) restoreKept(collection, fields.kept, wrong.report);
    else addAtStart(collection, fields.start, { sandbox, start, fill, wrong });
    records.set(form.collection, collection);
  }
  return records;
}

type Fill = <Value>(value: Value, path: Path) => Value;

function filler(places: Places, report: Reporter["report"]): Fill {
  return (value, path) => {
    try {
      return filled(value, places);
    } catch (error) {
      if (!(error instanceof SandboxError) || error.code !== "unknown_ref") throw error;
      report(path, error.message, "write a number that exists, such as {farmer.0}");
      return value;
    }
  };
}

function emptyCollection(form: RecordForm, fields: CollectionFields, fill: Fill): Collection {
  const moves = Object.entries(fields.moves ?? {}).map(([id, { when = {}, set = {} }]) => {
    return [id, fill({ when, set }, ["moves", id])] as const;
  });
  const rules = (fields.then ?? []).map(({ after, when = {}, set }, index) => {
    return { after: timeFrom(0, after), ...fill({ when, set }, ["then", index]) };
  });
  return {
    form,
    set: fill(fields.set ?? {}, ["set"]),
    moves: Object.fromEntries(moves),
    rules,
    made: 0,
    records: new Map(),
    ids: new Map(),
    owned: new Map(),
    bytes: 0,
    due: [],
    removed: new Map(),
    keys: new Map(),
  };
}

/** Checks what moves and rules look for, and what a record has after them. */
function checkChanges({ set: always, moves, rules }: Collection, wrong: Reporter): void {
  wrong.check(always, ["set"]);
  const ofMoves = Object.entries(moves).map(([id, one]) => ["moves", id, one] as const);
  const ofRules = rules.map((one, index) => ["then", index, one] as const);
  for (const [kind, name, { set, when }] of [...ofMoves, ...ofRules]) {
    wrong.check({ ...always, ...set }, [kind, name, "set"]);
    wrong.names(when, [kind, name, "when"]);
  }
}

interface Starting {
  readonly sandbox: Seeded;
  readonly start: number;
  readonly fill: Fill;
  readonly wrong: Reporter;
}

function addAtStart(
  collection: Collection,
  given: readonly NewRecordFields[] = [],
  { sandbox, start, fill, wrong }: Starting,
): void {
  const { form, set } = collection;
  for (const [index, one] of given.entries()) {
    const { owner, at, members } = newRecord(sandbox.scenario, one, start);
    const path = ["start", index];
    const sources = [set, fill(members, path)];
    const record = draftRecord(sandbox, collection, owner, at, sources, undefined, form.idIn(members));
    wrong.names(members, path);
    wrong.value(record.members, path);
    applyChange(collection, { collection: form.collection, record });
  }
}

/** The owner, the time and the members of a new record of a scenario or a step. */
export function newRecord(scenario: Scenario, given: NewRecordFields, start: number) {
  const { organization, environment = "test", created_at: created, ...members } = given;
  const owned = Object.entries(scenario.organizations ?? {});
  const [main] =
    owned.find(([, { keys = {} }]) => Object.hasOwn(keys, scenario.default_key ?? "")) ?? owned[0] ?? [];
  const owner = { organization: organization ?? main ?? "organization-1", environment };
  return { owner, at: created === undefined ? start : timeFrom(start, created), members: members as Members };
}

/** Reports what is wrong with the records of a collection. */
interface Reporter {
  readonly report: (path: Path, message: string, hint: string) => void;
  /** The members of a record, as responses would have them. */
  readonly value: (members: Members, path: Path) => void;
  readonly names: (members: Members, path: Path) => void;
  readonly check: (set: Members, path: Path) => void;
}

function reporter(form: RecordForm, sandbox: Seeded, tell: Report): Reporter {
  const report = (path: Path, message: string, hint: string) =>
    tell({ code: "record_invalid", path: ["records", form.collection, ...path], message, hint });
  const value = (members: Members, path: Path) => {
    const problem = form.problemOf(sandbox, members);
    if (problem !== undefined) report(path, problem, "write a value that the document's schema allows");
  };
  const names = (members: Members, path: Path) => {
    const unknown = form.unknownIn(members);
    if (unknown !== undefined) report(path, unknown, "write a member of the document's schema");
  };
  return {
    report,
    value,
    names,
    check(set: Members, path: Path) {
      names(set, path);
      value(form.make(sandbox, form.idOf(sandbox, 1), 0, [set]), path);
    },
  };
}

function restoreKept(
  collection: Collection,
  kept: NonNullable<CollectionFields["kept"]>,
  report: Reporter["report"],
): void {
  const { form } = collection;
  for (const [index, record] of kept.records.entries()) {
    if (form.idIn(record.members) !== undefined && (record.next?.rule ?? -1) < collection.rules.length)
      applyChange(collection, { collection: form.collection, record });
    else report(["kept", "records", index], "the record has no id, or another rule", "take another snapshot");
  }
  for (const removed of kept.removed) collection.removed.set(removed.id, removed);
  for (const [key, one] of Object.entries(kept.keys)) collection.keys.set(key, one);
  collection.made = Math.max(collection.made, kept.made);
}
