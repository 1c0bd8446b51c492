import type { Endpoint } from "../api/endpoint.js";
import { type DescribedOperation, type DocumentReader, parametersIn } from "../api/routes.js";
import { failures } from "../rules/fault-effects.js";
import { escapeControls } from "../rules/redact.js";
import { memberIn } from "../rules/schema/json.js";
import { isMapping, pathText } from "../rules/schema/shape.js";
import { listed, quote } from "../rules/schema/words.js";
import type { ScenarioMistake } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { type Content, sampledBody } from "./contents.js";
import { type DocumentText, readApiDocument, refuse } from "./document.js";
import { endpointOf } from "./endpoints.js";
import type { Mismatch } from "./keywords.js";
import { createNotes, mismatchText, type Notes } from "./notes.js";
import { once, recentIn } from "./once.js";
import { operationsOf, routeKey, unknownOperation } from "./operations.js";
import type { ServedOperation } from "./record-form.js";
import { listsWithoutLimit, longestList, recordEndpoints } from "./records.js";
import { requestExamples } from "./requests.js";
import { ofExamples } from "./sampler.js";
import { schemasOf } from "./schemas.js";
import { differencesTo } from "./shapes.js";
import { noteUnread } from "./unread.js";

/** The operations of a document next to the built-in ones. */
export interface ReadApi {
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

/** As `readApi`; remembers the last few documents, which resets, replicas and instances start again. */
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
  if (reading === undefined || !("rejected" in reading)) return;
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
