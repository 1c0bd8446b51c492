import type { Endpoint } from "../api/endpoint.js";
import { memberIn, mergedByName } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import {
  type Fields,
  fieldsOf,
  isMapping,
  type Path,
  type Shape,
  shapeAt,
  shapeOf,
} from "../rules/schema/shape.js";
import { didYouMean, quote } from "../rules/schema/words.js";
import { base62From, type RandomStream, randomStream, uuidFrom } from "../rules/seed.js";
import type { CollectionFields, RecordForm, Seeded } from "../sandbox/record.js";
import { recentIn } from "./once.js";
import { type Operation, sampledBody } from "./operations.js";
import { problemIn } from "./requests.js";
import { maxSamples, ofExamples } from "./sampler.js";
import type { Check } from "./validator.js";

// Where the responses of a collection have records, and what a record of them looks like.

export interface ServedOperation {
  readonly operation: Operation;
  readonly endpoint: Endpoint;
}

export type Role = "create" | "read" | "list" | "update" | "remove" | "move";

/** An operation of a collection, and where its response has a record, or the list of them. */
export interface View extends ServedOperation {
  readonly role: Role;
  /** `undefined` if the response has no record. */
  readonly at: Path | undefined;
  /** The members of a record in it; `undefined` for any. */
  readonly fields: Fields | undefined;
  readonly sample: (sandbox: Seeded) => unknown;
  /** Of the whole body. */
  readonly check: Check;
}

const usualPlaces = ["data.id", "id"];

export function viewOf(role: Role, { operation, endpoint }: ServedOperation, id: string | undefined): View {
  const { success: content } = operation;
  const samples = new Map<string, unknown>();
  const sample = ({ seed, scenario }: Seeded) => {
    const example = scenario.examples?.[operation.id];
    const make = () =>
      content.type !== "" ? (sampledBody(content, { ...ofExamples, seed }, example)?.value ?? {}) : undefined;
    return recentIn(samples, `${seed} ${example ?? ""}`, make, maxSamples);
  };
  const shape = endpoint.responseShape;
  const first = sample({ seed: 1, scenario: { version: 1 } });
  const has = (path: Path) => shapeAt(shape, path) !== undefined || memberIn(first, path) !== undefined;
  const places = (id === undefined ? usualPlaces : [id]).map((one) => one.split("."));
  const check = content.reader.checkOf(content.schema);
  const common = { role, operation, endpoint, sample, check };
  if (content.type === "") return { ...common, at: undefined, fields: undefined };
  if (role !== "list") {
    const at = places.find(has)?.slice(0, -1);
    return { ...common, at, fields: at && fieldsIn(shape, at) };
  }
  const name = places[0]?.at(-1) as string;
  const members = Object.entries(fieldsOf(shape) ?? {}).map(([key, field]) => [key, shapeOf(field)] as const);
  const lists = [
    [],
    ...members.map(([key]) => [key]),
    ...members.flatMap(([key, inner]) => Object.keys(fieldsOf(inner) ?? {}).map((one) => [key, one])),
  ];
  const at = lists.find((path) => {
    const list = shapeAt(shape, path);
    const item = list?.kind === "list" ? list.item : undefined;
    const value = memberIn(first, path);
    return (
      (item && shapeAt(item, [name])) !== undefined ||
      (Array.isArray(value) && memberIn(value[0], [name]) !== undefined)
    );
  });
  const list = at && shapeAt(shape, at);
  return { ...common, at, fields: list?.kind === "list" ? fieldsIn(list.item, []) : undefined };
}

function fieldsIn(shape: Shape, at: Path): Fields | undefined {
  const inner = shapeAt(shape, at);
  const fields = inner && fieldsOf(inner);
  return fields !== undefined && Object.keys(fields).length > 0 ? fields : undefined;
}

export function withValue(value: unknown, [first, ...rest]: Path, inner: unknown): unknown {
  if (first === undefined) return inner;
  const members = isMapping(value) ? value : {};
  return { ...members, [first]: withValue(members[first], rest, inner) };
}

/** The members of a record that an operation shows. */
export function shown({ fields }: View, members: Members): Members {
  if (fields === undefined) return members;
  return Object.fromEntries(Object.entries(members).filter(([name]) => Object.hasOwn(fields, name)));
}

export function recordBody(view: View, sandbox: Seeded, members: Members): unknown {
  const { at = [], role } = view;
  return withValue(view.sample(sandbox), at, role === "list" ? [shown(view, members)] : shown(view, members));
}

const creationNames = ["created_at", "createdAt", "created"];
const updateNames = ["updated_at", "updatedAt", "updated"];

/** What the functions of a form need. */
interface FormParts {
  readonly collection: string;
  /** The member with the id. */
  readonly name: string;
  /** The members of records; `undefined` for any. */
  readonly fields: Fields | undefined;
  /** The members that a client can send. */
  readonly sendable: readonly string[];
  /** The members of a new record before its own. */
  readonly base: (sandbox: Seeded) => Members;
  readonly problemOf: RecordForm["problemOf"];
}

export function formOf(
  collection: string,
  { id: place }: CollectionFields,
  views: readonly View[],
): RecordForm {
  const name = (place ?? "id").split(".").at(-1) as string;
  const having = views.filter(({ at }) => at !== undefined);
  const fields = having.every((one) => one.fields !== undefined)
    ? (Object.assign({}, ...having.map((one) => one.fields)) as Fields)
    : undefined;
  const body = views.find(({ role }) => role === "update")?.endpoint.input?.body?.shape;
  const sendable = Object.keys((body && fieldsOf(body)) ?? {});
  const problemOf: RecordForm["problemOf"] = (sandbox, members) => {
    for (const view of having) {
      const problem = problemIn(view.check, recordBody(view, sandbox, members));
      if (problem)
        return `the response of ${view.operation.id} would not be valid: ${problem.field} ${problem.message}`;
    }
    return undefined;
  };
  const parts: FormParts = { collection, name, fields, sendable, base: samplesOf(having), problemOf };
  return {
    collection,
    idOf: idsOf(parts),
    idIn: (members) => members[name],
    make(sandbox, id, at, given) {
      const members = given
        .map((one) => known(parts, one))
        .reduce((under, over) => mergedByName(under, over) as Members, parts.base(sandbox));
      return { ...members, ...stamps(fields, [...creationNames, ...updateNames], at), [name]: id };
    },
    change: (members, at, given, isWhole = false) => changed(parts, members, at, given, isWhole),
    problemOf,
    unknownIn(given) {
      const unknown = fields && Object.keys(given).find((one) => !Object.hasOwn(fields, one));
      return unknown === undefined
        ? undefined
        : `no response of ${collection} has the member ${quote(unknown)}.${didYouMean(unknown, Object.keys(fields ?? {}))}`;
    },
  };
}

/** The members of a record among these. */
function known({ fields }: FormParts, given: Members): Members {
  if (fields === undefined) return given;
  return Object.fromEntries(Object.entries(given).filter(([one]) => Object.hasOwn(fields, one)));
}

/** The ids of a collection, in the first form that the schemas allow. */
function idsOf({ collection, name, base, problemOf }: FormParts): RecordForm["idOf"] {
  const usual = { seed: 1, scenario: { version: 1 } } as const;
  let kind: IdKind | undefined;
  return (sandbox, number, attempt = 0) => {
    const sampleId = base(usual)[name];
    const group = sandbox.idGroup === undefined ? [] : [String(sandbox.idGroup)];
    const idWith = (make: IdKind, seed: number, one: number) =>
      make(
        randomStream(seed, "record.id", collection, String(one), String(attempt), ...group),
        one,
        sampleId,
      );
    const isFine = (make: IdKind, isShort: boolean) =>
      [1, 2, 12].every((one) => {
        const id = idWith(make, 1, one);
        // Logs leave out longer words of a path: they may be keys.
        const isKept = !isShort || !/[0-9A-Za-z]{21}/.test(String(id));
        return isKept && problemOf(usual, { ...base(usual), [name]: id }) === undefined;
      });
    kind ??= idKinds.find((make) => isFine(make, true)) ?? idKinds.find((make) => isFine(make, false));
    return idWith(kind ?? (idKinds[0] as IdKind), sandbox.seed, number);
  };
}

function changed(
  parts: FormParts,
  members: Members,
  at: number,
  given: readonly Members[],
  isWhole: boolean,
): Members {
  const { name, fields, sendable } = parts;
  const isKept = (one: string) => {
    const field = fields?.[one];
    return !sendable.includes(one) || field === undefined || !("optional" in field);
  };
  const keptMembers = Object.entries(members).filter(([one]) => !isWhole || isKept(one));
  let changed: Members = Object.fromEntries(keptMembers);
  for (const change of given.map((each) => known(parts, each)))
    changed = isWhole ? { ...changed, ...change } : (mergedByName(changed, change) as Members);
  const fixedMembers = Object.entries(members).filter(([one]) => one === name || creationNames.includes(one));
  return { ...changed, ...Object.fromEntries(fixedMembers), ...stamps(fields, updateNames, at) };
}

const order: readonly Role[] = ["list", "move", "update", "read", "create"];

/** The members of a new record before its own: of all samples, those of a creation last. */
function samplesOf(views: readonly View[]) {
  const sorted = views
    .filter(({ role }) => order.includes(role))
    .sort((one, other) => order.indexOf(one.role) - order.indexOf(other.role));
  return (sandbox: Seeded): Members => {
    const samples = sorted.map(({ at = [], role, sample }) => {
      const part = memberIn(sample(sandbox), at);
      return role === "list" && Array.isArray(part) ? part[0] : part;
    });
    return Object.assign({}, ...samples.filter(isMapping));
  };
}

/** The members with these names that a record has, as a time in their form. */
function stamps(fields: Fields | undefined, names: readonly string[], at: number): Members {
  const iso = new Date(at).toISOString();
  const entries = names.flatMap((one) => {
    const field = fields && Object.hasOwn(fields, one) ? fields[one] : undefined;
    const fieldShape = field && shapeOf(field);
    // A text or null.
    const shape = fieldShape?.kind === "either" ? fieldShape.options[0] : fieldShape;
    if (shape?.kind === "number") return [[one, Math.floor(at / 1000)]];
    return shape?.kind === "text" ? [[one, shape.format === "date" ? iso.slice(0, 10) : iso]] : [];
  });
  return Object.fromEntries(entries);
}

type IdKind = (draw: RandomStream, number: number, sample: unknown) => string | number;

/** The forms of ids; the first one that the schemas allow makes all ids of a collection. */
const idKinds: readonly IdKind[] = [
  (draw, number, sample) =>
    typeof sample === "number" ? 1000 + (draw() % 9) + number * 10 : likeSample(String(sample), draw),
  (draw) => base62From(draw, 20),
  (_draw, number) => number,
  (_draw, number) => String(number),
];

/** A text with the prefix of a sample, and as many letters and digits after it, but enough for many records. */
function likeSample(sample: string, draw: RandomStream): string {
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(sample)) return uuidFrom(draw);
  const [, prefix = "", rest = ""] = /^((?:[A-Za-z]+[_-])*)(.*)$/s.exec(sample) ?? [];
  const isHex = /^[0-9a-f-]*\d[0-9a-f-]*$/.test(rest);
  const digits = "0123456789";
  const letters = isHex ? "abcdef" : "abcdefghijklmnopqrstuvwxyz";
  const ofDigit = isHex && /[a-f]/.test(rest) ? `${digits}abcdef` : digits;
  const text = rest.padEnd(8, "0").replace(/[0-9A-Za-z]/g, (one) => {
    const from = /\d/.test(one) ? ofDigit : letters;
    const drawn = from[draw() % from.length] as string;
    return /[A-Z]/.test(one) ? drawn.toUpperCase() : drawn;
  });
  return prefix + text;
}
