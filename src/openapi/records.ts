import type {
  Endpoint,
  EndpointInput,
  ExampleRequest,
  OwnRejection,
  OwnRejectionPath,
  Success,
} from "../api/endpoint.js";
import { jsonBody } from "../api/messages.js";
import { parametersIn } from "../api/routes.js";
import { containsKey } from "../rules/redact.js";
import { canonicalJson, memberIn } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, type Shape, shapeOf } from "../rules/schema/shape.js";
import { isoOf } from "../sandbox/clock.js";
import type { KeyEntry } from "../sandbox/keys.js";
import type {
  Collection,
  CollectionFields,
  KeptRecord,
  KeyedCreation,
  RecordForm,
} from "../sandbox/record.js";
import {
  commitChange,
  draftRecord,
  hasRoom,
  matches,
  ownerOf,
  placeIn,
  whyUnknown,
  withMembers,
} from "../sandbox/records/records.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { ScenarioMistake } from "../scenario/problems.js";
import { decoded } from "./document.js";
import { type Operation, parameterNames, unknownOperation } from "./operations.js";
import {
  formOf,
  type Role,
  recordBody,
  type ServedOperation,
  shown,
  type View,
  viewOf,
  withValue,
} from "./record-form.js";
import { rejectionsOf } from "./requests.js";

// Operations of a document that create, read and change records.

/** Returns the endpoints of collections, by operation id; reports operations that the document lacks. */
export function recordEndpoints(
  records: Readonly<Record<string, CollectionFields>>,
  served: ReadonlyMap<string, ServedOperation>,
  report: (mistake: ScenarioMistake) => void,
): ReadonlyMap<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const [name, fields] of Object.entries(records)) {
    const wrong: Wrong = (path, message, hint) =>
      report({ code: "record_invalid", path: ["records", name, ...path], message, hint });
    if (name === "farmer") wrong([], "farmer is the placeholder of farmers", "choose another name");
    const views = namedOperations(fields).flatMap(([role, id, path]): View[] => {
      const servedOperation = served.get(id);
      const isTaken = endpoints.has(id);
      if (servedOperation === undefined || isTaken) {
        const { message, hint } = unknownOperation(id, served.keys());
        wrong(path, isTaken ? `${id} already has records` : message, hint);
        return [];
      }
      endpoints.set(id, servedOperation.endpoint);
      const view = viewOf(role, servedOperation, fields.id);
      requireId(view, fields, path, wrong);
      return [view];
    });
    if (views.length === 0) {
      wrong([], "the collection has no operation", "add create, read, list, update or remove");
      continue;
    }
    const form = formOf(name, fields, views);
    for (const view of views) endpoints.set(view.operation.id, endpointOf(view, form, fields));
  }
  return endpoints;
}

/** The operations that list records, and document no limit. */
export function listsWithoutLimit(
  records: Readonly<Record<string, CollectionFields>>,
  served: ReadonlyMap<string, ServedOperation>,
): string[] {
  return Object.values(records).flatMap(({ list: id = "" }) => {
    const operation = served.get(id)?.operation;
    return operation !== undefined && sizeIn(operation) === undefined ? [id] : [];
  });
}

function requireId({ at, role, operation }: View, { id }: CollectionFields, path: Path, wrong: Wrong): void {
  if (at !== undefined || !/^(?:create|read|list)$/.test(role)) return;
  const message = `the response of ${operation.id} has no ${id ?? "data.id or id"}`;
  wrong(id === undefined ? path : ["id"], message, "write id: and its place, such as data.id");
}

type Wrong = (path: Path, message: string, hint: string) => void;

function namedOperations(fields: CollectionFields): [role: Role, id: string, path: Path][] {
  const roles = (["create", "read", "list", "update", "remove"] as const).flatMap(
    (role): [Role, string, Path][] => (fields[role] === undefined ? [] : [[role, fields[role], [role]]]),
  );
  const moves = Object.keys(fields.moves ?? {});
  return [...roles, ...moves.map((id): [Role, string, Path] => ["move", id, ["moves", id]])];
}

/** An operation of a collection. */
interface Served extends View, ReturnType<typeof rejectionsOf> {
  readonly form: RecordForm;
  /** The parameter of its path with the id; `undefined` if it is not about one record. */
  readonly idName: string | undefined;
  /** The parameters of its path that are members of records. */
  readonly parents: readonly string[];
  readonly documentsKey: boolean;
}

/** A request to it. */
interface Call extends Served {
  readonly caller: KeyEntry;
  readonly sandbox: SandboxState;
  readonly input: EndpointInput;
  readonly collection: Collection;
}

type Respond = (call: Call) => Success | OwnRejection;

const collectionOf = ({ form }: Served, { records }: SandboxState) =>
  records.get(form.collection) as Collection;

function endpointOf(view: View, form: RecordForm, fields: CollectionFields): Endpoint {
  const { role, operation, endpoint, at } = view;
  const inPath = parameterNames(operation.path);
  const isOfOne = role !== "create" && role !== "list";
  const idName = isOfOne ? inPath.at(-1) : undefined;
  const served: Served = {
    ...view,
    ...rejectionsOf(operation),
    form,
    idName,
    parents: inPath.filter((one) => one !== idName && Object.hasOwn(view.fields ?? {}, one)),
    documentsKey: operation.parameters.some(
      (one) => one.in === "header" && /^idempotency-key$/i.test(one.name),
    ),
  };
  const run = { create, read: readRecord, list, update: change, remove, move: change }[role];
  const ownRejections: readonly OwnRejectionPath[] = [
    ...(isOfOne ? (["404.unknown_record"] as const) : []),
    ...(role === "move" ? (["409.conflict"] as const) : []),
    ...(role === "create" && served.documentsKey ? [reusedKey(operation)] : []),
    ...(stores.has(role) ? [tooLarge] : []),
  ];
  const shape = endpoint.responseShape;
  return {
    ...endpoint,
    form,
    creates: role === "create",
    honorsIdempotencyKey: role === "create" && served.documentsKey,
    rejections: [...new Set([...(endpoint.rejections ?? []), ...ownRejections])],
    responseShape:
      at === undefined ? shape : requiring(shape, at, (fields.id ?? "id").split(".").at(-1) as string),
    requests: (caller, sandbox) => requestsTo(served, caller, sandbox),
    respond: (caller, sandbox, input) =>
      run({ ...served, caller, sandbox, input, collection: collectionOf(served, sandbox) }),
  };
}

/** The roles whose requests store members. */
const stores: ReadonlySet<Role> = new Set(["create", "update", "move"]);
const tooLarge: OwnRejectionPath = "422.too_large";
const reusedKey = ({ responses }: Operation): OwnRejectionPath =>
  responses.has("409") && !responses.has("422") ? "409.conflict" : "422.idempotency_key";

function sent({ operation: { success } }: View, body: unknown): Success {
  const { headers, type } = success;
  return { ...jsonBody(body), headers, ...(type && { type }) };
}

/** The response with a record, or the usual one if it has none. */
function withRecord(call: Call, members: Members) {
  const { at, endpoint, caller, sandbox, input } = call;
  return at === undefined
    ? (endpoint.respond(caller, sandbox, input) as Success)
    : sent(call, recordBody(call, sandbox, members));
}

/** The members of a record in a client's body, which may wrap them as responses do. */
function sentMembers({ at = [], input: { body } }: Call): Members {
  const inner = memberIn(body, at);
  return isMapping(inner) ? inner : isMapping(body) ? body : {};
}

function parentsIn({ parents, fields = {}, input: { params } }: Call): Members {
  const entries = parents.map((name) => {
    const [field, text] = [fields[name], decoded(params[name] ?? "")];
    return [name, field && shapeOf(field).kind === "number" ? Number(text) : text];
  });
  return Object.fromEntries(entries);
}

function invalid({ mismatched, rejection }: Served, problem: string, field = "body"): OwnRejection {
  return rejection(mismatched, { fields: { [field]: problem } });
}

const create: Respond = (call) => {
  const { operation, form, rejection, documentsKey, collection, sandbox, input } = call;
  const owner = ownerOf(call.caller.key);
  const key = documentsKey ? input.idempotencyKey?.replace(/^"(.*)"$/, "$1") : undefined;
  if (key !== undefined && (key === "" || key.length > 255 || containsKey(key)))
    return invalid(call, "must be 1 to 255 characters, and not an API key", "Idempotency-Key");
  const sha256 = key === undefined ? "" : sandbox.platform.sha256(canonicalJson(input.body ?? null));
  const earlier = key === undefined ? undefined : collection.keys.get(`${owner} ${key}`);
  if (earlier !== undefined && earlier.sha256 !== sha256) return rejection(reusedKey(operation));
  if (earlier !== undefined && !collection.ids.has(earlier.number)) {
    const note = "the record that this Idempotency-Key has created was removed";
    return { ...rejection(reusedKey(operation)), note };
  }
  const record = recordFrom(call, earlier);
  if (typeof record === "string") return invalid(call, record);
  if (earlier === undefined && !hasRoom(sandbox.records, record.members)) return rejection(tooLarge);
  const response = withRecord(call, record.members);
  if (earlier !== undefined) return response;
  const keyed = { sha256, number: record.number, at: isoOf(input.now) };
  const change = {
    collection: form.collection,
    record,
    ...(key !== undefined && { key: [`${owner} ${key}`, keyed] as const }),
  };
  return { ...response, commit: () => commitChange(sandbox, change) };
};

/** A new record, or the one of an earlier request with the same content; why it is not valid as a text. */
function recordFrom(call: Call, earlier: KeyedCreation | undefined): KeptRecord | string {
  const { form, collection, caller, sandbox, input } = call;
  const submitted = { ...sentMembers(call), ...parentsIn(call) };
  if (containsKey(JSON.stringify(submitted))) return "must not contain an API key";
  const { organization, environment } = caller.key;
  const at = earlier ? Date.parse(earlier.at) : input.now;
  let problem = "";
  // Objects of the body replace sampled ones if the schemas allow it.
  for (const first of [withoutObjects(submitted), submitted]) {
    const sources = [first, submitted, collection.set];
    const owner = { organization, environment };
    const record = draftRecord(sandbox, collection, owner, at, sources, earlier?.number);
    const mismatch = form.problemOf(sandbox, record.members);
    if (mismatch === undefined) return record;
    problem = mismatch;
  }
  return problem;
}

function withoutObjects(given: Members): Members {
  return Object.fromEntries(
    Object.entries(given).map(([name, one]) => [name, isMapping(one) ? undefined : one]),
  );
}

const ofRecord =
  (respond: (call: Call, record: KeptRecord) => Success | OwnRejection): Respond =>
  (call) => {
    const { collection, input, idName = "", rejection } = call;
    const owner = ownerOf(call.caller.key);
    const id = decoded(input.params[idName] ?? "");
    const record = collection.records.get(id);
    const isOwn = record !== undefined && ownerOf(record) === owner;
    if (isOwn && matches(record.members, parentsIn(call))) return respond(call, record);
    return { ...rejection("404.unknown_record"), note: whyUnknown(collection, id, owner) };
  };

const readRecord = ofRecord((call, { members }) => withRecord(call, members));

const change = ofRecord((call, record) => {
  const { role, operation, form, collection, sandbox, input } = call;
  const { when = {}, set = {} } = collection.moves[operation.id] ?? {};
  if (role === "move" && !matches(record.members, when)) {
    const state = Object.fromEntries(Object.keys(when).map((name) => [name, record.members[name]]));
    const needed = `${operation.id} needs ${JSON.stringify(when)}`;
    const note = `${form.collection} ${form.idIn(record.members)} has ${JSON.stringify(state)}, and ${needed}`;
    return { ...call.rejection("409.conflict"), note };
  }
  const changes = sentMembers(call);
  const members = form.change(record.members, input.now, [changes, set], operation.method === "PUT");
  const hasKey = containsKey(JSON.stringify(changes));
  const problem = hasKey ? "must not contain an API key" : form.problemOf(sandbox, members);
  if (problem !== undefined) return invalid(call, problem);
  if (!hasRoom(sandbox.records, members, record.members)) return call.rejection(tooLarge);
  const next = withMembers(collection, record, members, input.now);
  const commit = () => commitChange(sandbox, { collection: form.collection, record: next });
  return { ...withRecord(call, members), commit };
});

const remove = ofRecord((call, record) => {
  const { form, sandbox, input } = call;
  const removed = { number: record.number, id: String(form.idIn(record.members)), at: isoOf(input.now) };
  const commit = () => commitChange(sandbox, { collection: form.collection, removed });
  return { ...withRecord(call, record.members), commit };
});

const list: Respond = (call) => {
  const { fields = {}, at = [], collection, sandbox, input } = call;
  const owned = collection.owned.get(ownerOf(call.caller.key)) ?? [];
  const inQuery = Object.entries(input.query).filter(([name]) => Object.hasOwn(fields, name));
  // A query may have many values, and each is looked for in every record.
  const filters = [...Object.entries(parentsIn(call)), ...inQuery].map(
    ([name, wanted]) => [name, new Set([wanted].flat().map(String))] as const,
  );
  const isChosen = ({ members }: KeptRecord) =>
    filters.every(([name, texts]) => texts.has(String(members[name])));
  const chosen = filters.length === 0 ? owned : owned.filter(isChosen);
  const { items, facts } = pageOf(chosen, call);
  const shownItems = items.map(({ members }) => shown(call, members));
  const body = withValue(call.sample(sandbox), at, shownItems);
  const counted = withFacts(body, facts);
  return sent(call, call.check(counted) === undefined ? counted : body);
};

/** Requests with this key that show its outcomes now. */
function requestsTo(served: Served, caller: KeyEntry, sandbox: SandboxState): readonly ExampleRequest[] {
  const { endpoint, idName, parents, role, operation, form } = served;
  const [usual = {}] = endpoint.requests?.(caller, sandbox) ?? [];
  if (idName === undefined) return [usual];
  const [path = "", query = ""] = (usual.path ?? endpoint.path).split(/(?=\?)/);
  const params = parametersIn(endpoint, path);
  const to = (id: unknown, members: Members = {}) => {
    const recordValue = (name: string) =>
      name === idName ? id : parents.includes(name) ? members[name] : undefined;
    const put = (_: string, name: string) =>
      encodeURIComponent(String(recordValue(name) ?? decoded(params[name] ?? "")));
    return { ...usual, path: operation.path.replace(/\{([^{}]+)\}/g, put) + query };
  };
  const { moves, owned } = collectionOf(served, sandbox);
  const candidates = (owned.get(ownerOf(caller.key)) ?? []).slice(0, 100);
  const isAllowed = ({ members }: KeptRecord) =>
    role !== "move" || matches(members, moves[operation.id]?.when ?? {});
  const rejected = candidates.find((one) => !isAllowed(one))?.members;
  const first = candidates.find(isAllowed)?.members;
  return [
    { ends: "404.unknown_record", ...to(form.idOf(sandbox, 0)) },
    ...(rejected === undefined
      ? []
      : [{ ends: "409.conflict" as const, ...to(form.idIn(rejected), rejected) }]),
    ...(first === undefined ? [] : [to(form.idIn(first), first)]),
  ];
}

/** A shape whose records always have the id, without which no client reads them. */
function requiring(shape: Shape, [first, ...rest]: Path, id: string): Shape {
  if (shape.kind === "list") return { ...shape, item: requiring(shape.item, [], id) };
  if (shape.kind !== "mapping") return shape;
  const needed = String(first ?? id);
  const field = Object.hasOwn(shape.fields, needed) ? shape.fields[needed] : undefined;
  if (field === undefined) return shape;
  const inner = first === undefined ? shapeOf(field) : requiring(shapeOf(field), rest, id);
  return { ...shape, fields: { ...shape.fields, [needed]: inner } };
}

const sizeNames = ["limit", "per_page", "page_size"];
const sizeIn = ({ parameters }: Operation) =>
  parameters.find((one) => one.in === "query" && sizeNames.includes(one.name));
const usualPage = 100;
/** Lists without a documented limit. */
export const longestList = 100;

/** The records of a page, and the facts about it that a response may have. */
function pageOf(
  all: readonly KeptRecord[],
  { input: { query }, operation, collection: { records, removed, form } }: Call,
) {
  const parameterOf = (...names: readonly string[]) =>
    names.map((name) => query[name]).find((value) => value !== undefined);
  const sizeAt = sizeIn(operation);
  const schema = (sizeAt?.node.schema ?? {}) as Members;
  const target = typeof schema.$ref === "string" ? operation.success.reader.target(schema.$ref) : undefined;
  const { default: usual, maximum = usualPage } = { ...(target as Members | undefined), ...schema };
  const size = Number(parameterOf(...sizeNames) ?? usual ?? (sizeAt === undefined ? longestList : maximum));
  const page = Number(parameterOf("page") ?? 1);
  const cursor = String(parameterOf("cursor", "starting_after", "after") ?? "");
  const last = (records.get(cursor) ?? removed.get(cursor))?.number;
  const start =
    last === undefined
      ? Number(parameterOf("offset") ?? (page - 1) * size)
      : placeIn(all, (one) => one.number <= last);
  const items = all.slice(start, start + size);
  const hasMore = start + size < all.length;
  const next = hasMore ? String(form.idIn(items.at(-1)?.members ?? {})) : null;
  const total = all.length;
  const facts = {
    limit: size,
    per_page: size,
    offset: start,
    page,
    has_more: hasMore,
    next_cursor: next,
    total,
    total_count: total,
    count: items.length,
  };
  return { items, facts };
}

/** A body whose members, or those of its objects, have these facts if they have the names. */
function withFacts(body: unknown, facts: Members, isInner = false): unknown {
  if (!isMapping(body)) return body;
  const members = Object.entries(body).map(([name, value]) => {
    if (Object.hasOwn(facts, name) && !isMapping(value) && !Array.isArray(value)) return [name, facts[name]];
    return [name, isInner ? value : withFacts(value, facts, true)];
  });
  return Object.fromEntries(members);
}
