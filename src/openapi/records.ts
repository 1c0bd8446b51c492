import type {
  Endpoint,
  EndpointInput,
  ExampleRequest,
  OwnRejection,
  OwnRejectionPath,
  Success,
} from "../api/endpoint.js";
import { jsonBody } from "../api/messages.js";
import type { KeyEntry } from "../sandbox/keys.js";
import type { Collection, CollectionFields, KeptRecord, RecordForm } from "../sandbox/record.js";
import {
  commitChange,
  countRecords,
  draftRecord,
  matches,
  mostRecords,
  ownerOf,
  placeIn,
  whyUnknown,
  withMembers,
} from "../sandbox/records.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { ScenarioMistake } from "../scenario/problems.js";
import { containsKey } from "../spec/redact.js";
import { canonicalJson } from "../spec/schema/json.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path, type Shape, shapeOf } from "../spec/schema/shape.js";
import { didYouMean, quote } from "../spec/schema/words.js";
import { type Operation, parameterNames } from "./operations.js";
import {
  bodyOf,
  formOf,
  type Role,
  type ServedOperation,
  shown,
  type View,
  valueAt,
  viewOf,
  withValue,
} from "./record-form.js";
import { decoded, rejectionsOf } from "./requests.js";

// Operations of a document that create, read and change records.

type Report = (mistake: ScenarioMistake) => void;

/** Returns the endpoints of collections, by operation id; reports operations that the document lacks. */
export function recordEndpoints(
  records: Readonly<Record<string, CollectionFields>>,
  served: ReadonlyMap<string, ServedOperation>,
  report: Report,
): ReadonlyMap<string, Endpoint> {
  const made = new Map<string, Endpoint>();
  for (const [name, fields] of Object.entries(records)) {
    const wrong: Wrong = (path, message, hint) =>
      report({ code: "record_invalid", path: ["records", name, ...path], message, hint });
    if (name === "farmer") wrong([], "farmer is the placeholder of farmers", "choose another name");
    const views = namedOperations(fields).flatMap(([role, id, path]): View[] => {
      const found = served.get(id);
      const isTaken = made.has(id);
      if (found === undefined || isTaken) {
        const hint = didYouMean(id, served.keys()).trim() || "write an operation id of the document";
        const why = isTaken ? `${id} already has records` : `the document has no operation ${quote(id)}`;
        wrong(path, why, hint);
        return [];
      }
      made.set(id, found.endpoint);
      const view = viewOf(role, found, fields.id);
      requireId(view, fields, path, wrong);
      return [view];
    });
    if (views.length === 0) {
      wrong([], "the collection has no operation", "add create, read, list, update or remove");
      continue;
    }
    const form = formOf(name, fields, views);
    for (const view of views) made.set(view.operation.id, endpointOf(view, form, fields));
  }
  return made;
}

function requireId({ at, role, operation }: View, { id }: CollectionFields, path: Path, wrong: Wrong): void {
  if (at !== undefined || !/^(?:create|read|list)$/.test(role)) return;
  const message = `the response of ${operation.id} has no ${id ?? "data.id or id"}`;
  wrong(id === undefined ? path : ["id"], message, "write id: and its place, such as data.id");
}

type Wrong = (path: Path, message: string, hint: string) => void;

function namedOperations(fields: CollectionFields): [role: Role, id: string, path: Path][] {
  const roles = (["create", "read", "list", "update", "remove"] as const).flatMap((role) => {
    const id = fields[role];
    return id === undefined ? [] : [[role, id, [role]] as [Role, string, Path]];
  });
  const moves = Object.keys(fields.moves ?? {}).map((id): [Role, string, Path] => [
    "move",
    id,
    ["moves", id],
  ]);
  return [...roles, ...moves];
}

type Result = Success | OwnRejection;

/** An operation of a collection. */
interface Served extends View, ReturnType<typeof rejectionsOf> {
  readonly form: RecordForm;
  readonly collectionIn: (world: SandboxState) => Collection;
  /** The step of its path with the id; `undefined` if it is not about one record. */
  readonly idStep: PathStep | undefined;
  /** The steps of its path that are members of records. */
  readonly parents: readonly PathStep[];
  readonly documentsKey: boolean;
}

interface PathStep {
  readonly index: number;
  readonly name: string;
  readonly step: string;
}

function endpointOf(view: View, form: RecordForm, fields: CollectionFields): Endpoint {
  const { role, operation, endpoint, at } = view;
  const steps = operation.path.split("/").map((step, index) => ({
    ...{ index, step },
    name: parameterNames(step)[0] ?? "",
  }));
  const inPath = steps.filter(({ name }) => name !== "");
  const isOfOne = role !== "create" && role !== "list";
  const idStep = isOfOne ? inPath.at(-1) : undefined;
  const served: Served = {
    ...view,
    ...rejectionsOf(operation),
    form,
    collectionIn: ({ records }) => records.get(form.collection) as Collection,
    idStep,
    parents: inPath.filter((one) => one !== idStep && Object.hasOwn(view.fields ?? {}, one.name)),
    documentsKey: operation.parameters.some(
      (one) => one.in === "header" && /^idempotency-key$/i.test(one.name),
    ),
  };
  const run = { create, read, list, update: change, remove, move: change }[role];
  const own: readonly OwnRejectionPath[] = [
    ...(isOfOne ? (["404.unknown_record"] as const) : []),
    ...(role === "move" ? (["409.conflict"] as const) : []),
    ...(role === "create" && served.documentsKey ? [reusedKey(operation)] : []),
  ];
  const needed = [(fields.id ?? "id").split(".").at(-1) as string, ...namesIn(fields)];
  const shape = endpoint.responseShape;
  return {
    ...endpoint,
    form,
    rejections: [...new Set([...(endpoint.rejections ?? []), ...own])],
    responseShape: at === undefined ? shape : requiring(shape, at, needed),
    requests: (caller, world) => requestsTo(served, caller, world),
    respond: (caller, world, input) => run(served, caller, world, input),
  };
}

const reusedKey = ({ responses }: Operation): OwnRejectionPath =>
  responses.has("409") && !responses.has("422") ? "409.conflict" : "422.idempotency_key";

function sent({ content }: View, body: unknown): Success {
  const { headers = [], type } = content ?? {};
  return { ...jsonBody(body), headers, ...(type && { type }) };
}

/** The response with a record, or the usual one if it has none. */
function withRecord(
  served: Served,
  caller: KeyEntry,
  world: SandboxState,
  input: EndpointInput,
  members: Members,
) {
  if (served.at === undefined) return served.endpoint.respond(caller, world, input);
  return sent(served, bodyOf(served, world, members));
}

/** The members of a record in a client's body, which may wrap them as responses do. */
function sentMembers({ at = [] }: View, { body }: EndpointInput): Members {
  const inner = valueAt(body, at);
  return isMapping(inner) ? inner : isMapping(body) ? body : {};
}

function parentsIn({ parents, fields = {} }: Served, { params }: EndpointInput): Members {
  const all = parents.map(({ name }) => {
    const [field, text] = [fields[name], decoded(params[name] ?? "")];
    return [name, field && shapeOf(field).kind === "number" ? Number(text) : text];
  });
  return Object.fromEntries(all);
}

function invalid({ mismatched, rejection }: Served, problem: string, field = "body"): OwnRejection {
  return rejection(mismatched, { fields: { [field]: problem } });
}

function find(
  served: Served,
  { key }: KeyEntry,
  world: SandboxState,
  input: EndpointInput,
): KeptRecord | OwnRejection {
  const id = decoded(input.params[served.idStep?.name ?? ""] ?? "");
  const collection = served.collectionIn(world);
  const record = collection.records.get(id);
  const isOwn = record !== undefined && ownerOf(record) === ownerOf(key);
  if (isOwn && matches(record.members, parentsIn(served, input))) return record;
  return { ...served.rejection("404.unknown_record"), note: whyUnknown(collection, id, ownerOf(key)) };
}

type Respond = (served: Served, caller: KeyEntry, world: SandboxState, input: EndpointInput) => Result;

const create: Respond = (served, caller, world, input) => {
  const { operation, form, rejection, mismatched, documentsKey } = served;
  const collection = served.collectionIn(world);
  const owner = ownerOf(caller.key);
  const key = documentsKey ? input.idempotencyKey?.replace(/^"(.*)"$/, "$1") : undefined;
  if (key !== undefined && (key === "" || key.length > 255 || containsKey(key)))
    return invalid(served, "must be 1 to 255 characters, and not an API key", "Idempotency-Key");
  const sha256 = key === undefined ? "" : world.platform.sha256(canonicalJson(input.body ?? null));
  const earlier = key === undefined ? undefined : collection.keys.get(`${owner} ${key}`);
  if (earlier !== undefined && earlier.sha256 !== sha256) return rejection(reusedKey(operation));
  const most = world.given.mostRecords ?? mostRecords;
  if (earlier === undefined && countRecords(world.records) >= most)
    return { ...rejection(mismatched), note: `the sandbox has ${most} records, its maximum: remove some` };
  const record = recordFrom(served, caller, world, input, earlier);
  if (typeof record === "string") return invalid(served, record);
  const response = withRecord(served, caller, world, input, record.members);
  if (earlier !== undefined || "rejected" in response) return response;
  const keyed = { sha256, number: record.number, at: input.now };
  const change = {
    ...{ collection: form.collection, record },
    ...(key !== undefined && { key: [`${owner} ${key}`, keyed] as const }),
  };
  return { ...response, commit: () => commitChange(world, change) };
};

/** A new record, or the one of an earlier request with the same content; why it is not valid as a text. */
function recordFrom(
  served: Served,
  { key: { organization, environment } }: KeyEntry,
  world: SandboxState,
  input: EndpointInput,
  earlier: { readonly number: number; readonly at: number } | undefined,
): KeptRecord | string {
  const { form } = served;
  const collection = served.collectionIn(world);
  const given = { ...sentMembers(served, input), ...parentsIn(served, input) };
  if (containsKey(JSON.stringify(given))) return "must not contain an API key";
  const owner = { organization, environment };
  let problem = "";
  // Objects of the body replace sampled ones if the schemas allow it.
  for (const first of [withoutObjects(given), given]) {
    const all = [first, given, collection.set];
    const record = draftRecord(world, collection, owner, earlier?.at ?? input.now, all, earlier?.number);
    const found = form.problemOf(world, record.members);
    if (found === undefined) return record;
    problem = found;
  }
  return problem;
}

function withoutObjects(given: Members): Members {
  return Object.fromEntries(
    Object.entries(given).map(([name, one]) => [name, isMapping(one) ? undefined : one]),
  );
}

const read: Respond = (served, caller, world, input) => {
  const record = find(served, caller, world, input);
  return "rejected" in record ? record : withRecord(served, caller, world, input, record.members);
};

const change: Respond = (served, caller, world, input) => {
  const { role, operation, form } = served;
  const record = find(served, caller, world, input);
  if ("rejected" in record) return record;
  const collection = served.collectionIn(world);
  const { when = {}, set = {} } = collection.moves[operation.id] ?? {};
  if (role === "move" && !matches(record.members, when)) {
    const note = `${form.collection} ${form.idIn(record.members)} is not ${JSON.stringify(when)}`;
    return { ...served.rejection("409.conflict"), note };
  }
  const given = sentMembers(served, input);
  const members = form.change(record.members, input.now, [given, set], operation.method === "PUT");
  const hasKey = containsKey(JSON.stringify(given));
  const problem = hasKey ? "must not contain an API key" : form.problemOf(world, members);
  if (problem !== undefined) return invalid(served, problem);
  const next = withMembers(collection, record, members, input.now);
  const commit = () => commitChange(world, { collection: form.collection, record: next });
  return { ...withRecord(served, caller, world, input, members), commit };
};

const remove: Respond = (served, caller, world, input) => {
  const { form } = served;
  const record = find(served, caller, world, input);
  if ("rejected" in record) return record;
  const removed = { number: record.number, id: String(form.idIn(record.members)), at: input.now };
  const commit = () => commitChange(world, { collection: form.collection, removed });
  return { ...withRecord(served, caller, world, input, record.members), commit };
};

const list: Respond = (served, { key }, world, input) => {
  const { fields = {}, at = [] } = served;
  const collection = served.collectionIn(world);
  const all = collection.owned.get(ownerOf(key)) ?? [];
  const inQuery = Object.entries(input.query).filter(([name]) => Object.hasOwn(fields, name));
  const filters = [...Object.entries(parentsIn(served, input)), ...inQuery];
  const isChosen = ({ members }: KeptRecord) =>
    filters.every(([name, wanted]) => [wanted].flat().map(String).includes(String(members[name])));
  const chosen = filters.length === 0 ? all : all.filter(isChosen);
  const { items, facts } = pageOf(chosen, input.query, served.operation, collection);
  const shownItems = items.map(({ members }) => shown(served, members));
  const body = withValue(served.sample(world), at, shownItems);
  const counted = withFacts(body, facts);
  return sent(served, served.isValid(counted) ? counted : body);
};

/** Requests with this key that show its outcomes now. */
function requestsTo(served: Served, caller: KeyEntry, world: SandboxState): readonly ExampleRequest[] {
  const { endpoint, idStep, parents, role, operation, form } = served;
  const [usual = {}] = endpoint.requests?.(caller, world) ?? [];
  if (idStep === undefined) return [usual];
  const [path = "", query = ""] = (usual.path ?? endpoint.path).split(/(?=\?)/);
  const to = (id: unknown, members: Members = {}) => {
    const steps = path.split("/");
    const put = ({ index, step }: PathStep, value: unknown) => {
      steps[index] = step.replace(/\{.*\}/, () => encodeURIComponent(String(value)));
    };
    for (const one of parents) if (members[one.name] !== undefined) put(one, members[one.name]);
    put(idStep, id);
    return { ...usual, path: steps.join("/") + query };
  };
  const { moves, owned } = served.collectionIn(world);
  const own = (owned.get(ownerOf(caller.key)) ?? []).slice(0, 100);
  const isAllowed = ({ members }: KeptRecord) =>
    role !== "move" || matches(members, moves[operation.id]?.when ?? {});
  const other = own.find((one) => !isAllowed(one))?.members;
  const first = own.find(isAllowed)?.members;
  return [
    { ends: "404.unknown_record", ...to(form.idOf(world, 0)) },
    ...(other === undefined ? [] : [{ ends: "409.conflict" as const, ...to(form.idIn(other), other) }]),
    ...(first === undefined ? [] : [to(form.idIn(first), first)]),
  ];
}

function namesIn({ set = {}, moves = {}, then = [] }: CollectionFields): string[] {
  const all: readonly { readonly set?: Members; readonly when?: Members }[] = [
    { set },
    ...Object.values(moves),
    ...then,
  ];
  return all.flatMap((one) => [...Object.keys(one.set ?? {}), ...Object.keys(one.when ?? {})]);
}

/** A shape whose records always have these members: clients depend on them. */
function requiring(shape: Shape, [first, ...rest]: Path, names: readonly string[]): Shape {
  if (shape.kind === "list") return { ...shape, item: requiring(shape.item, [], names) };
  if (shape.kind !== "mapping") return shape;
  const needed = first === undefined ? names : [String(first)];
  const fields = Object.entries(shape.fields).map(([name, field]) => {
    if (!needed.includes(name)) return [name, field];
    return [name, first === undefined ? shapeOf(field) : requiring(shapeOf(field), rest, names)];
  });
  return { ...shape, fields: Object.fromEntries(fields) };
}

const usualPage = 100;
/** Lists without a documented limit. */
const longestList = 1000;

/** The records of a page, and the facts about it that a response may have. */
function pageOf(
  all: readonly KeptRecord[],
  query: EndpointInput["query"],
  { parameters }: Operation,
  { records, removed, form }: Collection,
) {
  const named = (names: readonly string[]) =>
    parameters.find((one) => one.in === "query" && names.includes(one.name));
  const sizeAt = named(["limit", "per_page", "page_size"]);
  const given = (name: string | undefined) => (name === undefined ? undefined : query[name]);
  const { default: usual, maximum = usualPage } = (isMapping(sizeAt?.at.schema) ? sizeAt.at.schema : {}) as {
    default?: number;
    maximum?: number;
  };
  const size = Number(given(sizeAt?.name) ?? usual ?? (sizeAt === undefined ? longestList : maximum));
  const page = Number(given(named(["page"])?.name) ?? 1);
  const cursor = given(named(["cursor", "starting_after", "after"])?.name);
  const last =
    cursor === undefined ? undefined : (records.get(String(cursor)) ?? removed.get(String(cursor)))?.number;
  const start =
    last === undefined
      ? Number(given(named(["offset"])?.name) ?? (page - 1) * size)
      : placeIn(all, (one) => one.number <= last);
  const items = all.slice(start, start + size);
  const hasMore = start + size < all.length;
  const next = hasMore ? String(form.idIn(items.at(-1)?.members ?? {})) : null;
  const facts = {
    ...{
      limit: size,
      per_page: size,
      offset: start,
      page,
      total: all.length,
      total_count: all.length,
      count: items.length,
    },
    ...{ has_more: hasMore, next_cursor: next },
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
