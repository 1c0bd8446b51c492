import type { DocumentReader } from "../api/document-reader.js";
import { builtIn } from "../api/endpoints.js";
import { failures } from "../rules/fault-effects.js";
import { escapeControls } from "../rules/redact.js";
import { memberIn } from "../rules/schema/json.js";
import { isMapping } from "../rules/schema/shape.js";
import { didYouMean, listed, quote } from "../rules/schema/words.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import type { ScenarioMistake } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { type ApiDocument, type DocumentText, Notes, readApiDocument, valueAt } from "./document.js";
import { neededScopes, type Operation, operationsOf, responseAt, routeKey } from "./operations.js";
import { inputOf, type OperationInput } from "./requests.js";
import { noteSamples, type SchemasByUse, withPathValue } from "./samples.js";
import { Schemas } from "./schemas.js";

/** The operations of a document next to the built-in ones. */
interface ReadApi {
  /** All endpoints, the built-in ones first. */
  readonly endpoints: readonly Endpoint[];
  /** Each operation of the document that is not built in, by its id. */
  readonly served: ReadonlyMap<string, Operation>;
  /** What a person should know: what cannot be served, what differs, and what is not checked. */
  readonly notes: () => Notes;
}

/** Reads a document next to the built-in endpoints. Throws a `ScenarioError` with all problems and their places. */
function readApi(text: DocumentText): ReadApi {
  const document = readApiDocument(text);
  const schemas: SchemasByUse = {
    request: new Schemas(document, "request"),
    response: new Schemas(document, "response"),
    sample: new Schemas({ ...document, notes: new Notes() }, "sample"),
  };
  const operations = operationsOf(document, schemas);
  const builtInRoutes = new Set(builtIn.map(routeKey));
  const ids = new Set(builtIn.map(({ operationId }) => operationId));
  const added = operations
    .filter((operation) => !builtInRoutes.has(routeKey(operation)))
    .map((operation) => (ids.has(operation.id) ? { ...operation, id: `${operation.id}-2` } : operation))
    .map((operation) => ({ operation, input: inputOf(operation, schemas) }));
  let isNoted = false;
  return {
    endpoints: [...builtIn, ...added.map(({ operation, input }) => endpointOf(operation, schemas, input))],
    served: new Map(added.map(({ operation }) => [operation.id, operation])),
    notes() {
      if (isNoted) return document.notes;
      isNoted = true;
      for (const { method, path } of operations.filter((one) => builtInRoutes.has(routeKey(one))))
        document.notes.say("differs", `${method} ${path} is built in, and the document does not change it.`);
      for (const { operation } of added)
        noteSamples(document.notes, operation.id, schemas, operation.success.content);
      for (const { input } of added) input.note(document.notes);
      for (const use of ["request", "response", "sample"] as const) schemas[use].convertAll();
      noteUnread(document, operations);
      return document.notes;
    },
  };
}

const recentApis = new Map<string, ReadApi>();
const maxRecent = 8;

/** As `readApi`; remembers the last few documents, which resets start again. */
function apiOf(document: DocumentText): ReadApi {
  const key = JSON.stringify([document.files, document.text]);
  const api = recentApis.get(key) ?? readApi(document);
  recentApis.set(key, api);
  const [oldest] = recentApis.keys();
  if (recentApis.size > maxRecent && oldest !== undefined) recentApis.delete(oldest);
  return api;
}

/** An operation as an endpoint. */
function endpointOf(
  operation: Operation,
  schemas: SchemasByUse,
  { input, example, rejections }: OperationInput,
): Endpoint {
  const { method, path, id, node, responses, status, success } = operation;
  const [scope = null] = neededScopes(operation, schemas.request.document);
  return {
    method,
    path,
    operationId: id,
    input,
    ...(rejections && { rejections }),
    scope,
    ...(status !== 200 && { status }),
    summary: typeof node.summary === "string" ? node.summary : `${method} ${path}`,
    documented: (wanted) => responseAt(responses, wanted)?.withExample(),
    example,
    respond(_caller, { scenario }, { prefer, params }) {
      const { isSampled, ...response } = success.withExample(prefer?.example ?? scenario.examples?.[id]);
      return isSampled && path.includes("{") ? withPathValue(response, success.content, params) : response;
    },
  };
}

export const documentReader: DocumentReader = {
  endpoints({ openapi, examples = {}, faults = [] }, report) {
    const api = apiOf(textIn(openapi));
    if (report !== undefined)
      for (const mistake of [...exampleMistakes(examples, api), ...faultMistakes(faults, api)])
        report(mistake);
    return api.endpoints;
  },
  // Makes each sample.
  notes({ openapi }, scopes) {
    if (openapi === undefined) return { operations: 0, notes: [] };
    const api = apiOf(textIn(openapi));
    const notes = new Notes(api.notes());
    for (const { operationId, scope } of api.endpoints)
      if (typeof scope === "string" && !scopes.has(scope)) {
        const what = "a scope that no key has: add it to a key's scopes";
        notes.add("differs", operationId, ["needs", "operations need"], what, scope);
      }
    return { operations: api.served.size, notes: notes.list() };
  },
  info({ openapi }) {
    const { info } = readApiDocument(textIn(openapi)).root;
    const member = (name: string) => escapeControls(String(memberIn(info, [name]) ?? "").slice(0, 200));
    return { title: member("title"), version: member("version") };
  },
};

function textIn(openapi: Scenario["openapi"]): DocumentText {
  if (typeof openapi === "object") return openapi;
  throw new TypeError("The document of a scenario is read before it starts.");
}

/** Adds the notes about what a document has and the sandbox does not read. */
function noteUnread(document: ApiDocument, operations: readonly Operation[]): void {
  const { root, notes } = document;
  for (const { id, node } of operations)
    if (isMapping(node.callbacks))
      notes.add("unchecked", id, ["has", "operations have"], "callbacks, which are not sent");
  if (isMapping(root.webhooks)) notes.say("unchecked", "The document has webhooks, which are not sent.");
  const schemes = valueAt(root, "#/components/securitySchemes");
  const entries = Object.entries(isMapping(schemes) ? schemes : {});
  const isOurs = (one: unknown) =>
    isMapping(one) && one.in === "header" && String(one.name).toLowerCase() === "x-api-key";
  const names = entries.map(([name]) => name.slice(0, 60)).join(", ");
  if (names !== "" && !entries.some(([, one]) => isOurs(one)))
    notes.say(
      "differs",
      `The document authenticates with ${names}; here each request has its key in x-api-key.`,
    );
}

/** What is wrong with a name of an operation, and how to correct it. */
function unknownOperation(id: string, known: Iterable<string>) {
  const hint = didYouMean(id, known).trim() || "write an operation id of the document";
  return { message: `the document has no operation ${quote(id)}`, hint };
}

function exampleMistakes(examples: Readonly<Record<string, string>>, { served }: ReadApi): ScenarioMistake[] {
  return Object.entries(examples).flatMap(([id, name]): ScenarioMistake[] => {
    const mistake = { code: "unknown_example", path: ["examples", id] } as const;
    const operation = served.get(id);
    if (operation === undefined) return [{ ...mistake, ...unknownOperation(id, served.keys()) }];
    const names = [...operation.success.content.examples.keys()];
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
    const documented = new Set(candidates.flatMap(({ responses }) => [...responses.keys()]));
    const isFine = [String(status), `${String(status)[0]}XX`, "DEFAULT"].some((one) => documented.has(one));
    if (isFine) return [];
    const message = `${id ?? "no operation of the document"} ${id ? "does not document" : "documents"} status ${status}`;
    const failureStatuses = [...documented].filter((one) => /^[345]/.test(one)).sort();
    const hint = `write ${listed([...failureStatuses, ...Object.keys(failures)], "or")}`;
    return [{ code: "bad_choice", path: ["faults", index, "then", "status"], message, hint }];
  });
}
