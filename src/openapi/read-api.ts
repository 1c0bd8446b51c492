import type { Endpoint } from "../api/endpoint.js";
import type { DocumentReader } from "../api/routes.js";
import { ScenarioError, type ScenarioProblem } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { escapeControls } from "../spec/redact.js";
import { isMapping } from "../spec/schema/shape.js";
import { didYouMean, listed, quote } from "../spec/schema/words.js";
import { sampledBody } from "./contents.js";
import { differencesTo, routeKey } from "./differences.js";
import { type DocumentText, readApiDocument } from "./document.js";
import { endpointOf } from "./endpoints.js";
import { contentAt, operationsOf } from "./operations.js";
import { ofExamples } from "./sampler.js";
import { schemasOf } from "./schemas.js";

/** The operations of a document next to the built-in ones. */
export interface ReadApi {
  /** All endpoints, the built-in ones first. */
  readonly endpoints: readonly Endpoint[];
  /** For each operation of the document that is not built in, the names of its examples. */
  readonly examples: ReadonlyMap<string, readonly string[]>;
  /** The title and version of the document. */
  readonly info: { readonly title: string; readonly version: string };
  /** Every operation of the document. */
  readonly described: readonly DescribedOperation[];
  /** What a person should know: differences to the built-in operations, and what the sandbox leaves out. */
  readonly notes: readonly string[];
  /** The operations whose response is neither an example nor a valid sample; makes all of them. */
  readonly unsampled: () => readonly string[];
}

/** An operation of a document, such as `GET /things`, with the endpoint that responds, or why none does. */
export interface DescribedOperation {
  readonly operation: string;
  readonly endpoint?: Endpoint | undefined;
  readonly why?: string;
}

/** Reads a document next to the built-in endpoints. Throws a `ScenarioError` with all problems and their places. */
export function readApi(text: DocumentText, own: readonly Endpoint[]): ReadApi {
  const document = readApiDocument(text);
  const schemas = schemasOf(document);
  const notes: string[] = [];
  const leftOut = (note: string) => void notes.push(note);
  const notServed: DescribedOperation[] = [];
  const operations = operationsOf(document, schemas, (operation, why) => {
    notServed.push({ operation, why });
    leftOut(`${operation} is not served: ${why}.`);
  });
  // What is wrong must not be read for each operation.
  document.requireFine();
  const known = new Set(own.map(routeKey));
  const added = new Map(
    operations.filter((one) => !known.has(routeKey(one))).map((one) => [routeKey(one), one]),
  );
  const ids = new Set(own.map(({ operationId }) => operationId));
  const served = [...added.values()].map((one) => {
    const id = ids.has(one.id) ? `${one.id}-2` : one.id;
    return { operation: one, endpoint: endpointOf({ ...one, id }, document, schemas, leftOut) };
  });
  document.requireFine();
  notes.push(...differencesTo(own, operations, document));
  const success = ({ endpoint: { status }, operation: { responses } }: (typeof served)[number]) =>
    contentAt(responses, status ?? 200);
  const endpoints = [...own, ...served.map(({ endpoint }) => endpoint)];
  const byRoute = new Map(endpoints.map((one) => [routeKey(one), one]));
  const { title, version } = document.root.info as Record<string, unknown>;
  return {
    endpoints,
    info: { title: shortened(title), version: shortened(version) },
    described: [
      ...operations.map((one) => ({
        operation: `${one.method} ${one.path}`,
        endpoint: byRoute.get(routeKey(one)),
      })),
      ...notServed,
    ],
    examples: new Map(
      served.map((one) => [one.endpoint.operationId, [...(success(one)?.examples.keys() ?? [])]]),
    ),
    notes: notes.map(escapeControls),
    unsampled: () =>
      served.flatMap((one) => {
        const content = success(one);
        const isMade =
          content === undefined ||
          content.type === "" ||
          !content.isJson ||
          sampledBody(content, ofExamples) !== undefined;
        return isMade ? [] : [one.endpoint.operationId];
      }),
  };
}

const shortened = (text: unknown) => escapeControls(String(text).slice(0, 200));

const mostKept = 8;
const kept = new Map<string, ReadApi>();

/** As `readApi`; remembers the last few documents, which resets, replicas and instances start again. */
export function apiOf({ text, file }: DocumentText, own: readonly Endpoint[]): ReadApi {
  const key = `${own.map(routeKey).join()} ${text}`;
  let read = kept.get(key);
  if (read === undefined) {
    read = readApi({ text, file }, own);
    const [oldest] = kept.keys();
    if (kept.size === mostKept && oldest !== undefined) kept.delete(oldest);
    kept.set(key, read);
  }
  return read;
}

const mostNotes = 20;

/** The notes of a scenario's document, with the scopes that it needs and none of these keys has. */
export function notesOf(
  { openapi }: Pick<Scenario, "openapi">,
  own: readonly Endpoint[],
  scopes: ReadonlySet<string>,
): readonly string[] {
  if (!isMapping(openapi)) return [];
  const { endpoints, notes, unsampled } = apiOf(openapi as DocumentText, own);
  const documented = endpoints.filter((one) => !own.includes(one));
  const missing = new Set(
    documented.flatMap(({ scope }) => (typeof scope === "string" && !scopes.has(scope) ? scope : [])),
  );
  const all = [
    ...notes,
    ...[...missing].map((scope) => `No key has the scope ${scope}: add it to a key's scopes.`),
    ...unsampled().map(
      (id) =>
        `${id} responds with {}: its schema allows no sample that the sandbox can make. Add an example.`,
    ),
  ];
  const rest = all.length - mostNotes;
  return rest > 0 ? [...all.slice(0, mostNotes), `… and ${rest} more`] : all;
}

/** Adds the operations of a scenario's document to the built-in ones. */
export const readScenario: DocumentReader = ({ openapi, examples = {} }, own) => {
  if (!isMapping(openapi)) throw new TypeError("The document of a scenario is read before it starts.");
  const read = apiOf(openapi as DocumentText, own);
  const problems = Object.entries(examples).flatMap(([id, name]): ScenarioProblem[] => {
    const names = read.examples.get(id);
    if (names?.includes(name)) return [];
    const code = "unknown_example";
    if (names !== undefined && names.length > 0) {
      const message = `${id} has no example ${quote(name)}`;
      return [{ code, path: `examples.${id}`, message, hint: `write ${listed(names.slice(0, 20), "or")}` }];
    }
    const message =
      names === undefined ? `the document has no operation ${quote(id)}` : `${id} has no examples`;
    const hint =
      names === undefined
        ? didYouMean(id, read.examples.keys()) || "write an operation id of the document"
        : "remove it";
    return [{ code, path: `examples.${id}`, message, hint }];
  });
  if (problems.length > 0) throw new ScenarioError(problems);
  return read.endpoints;
};
