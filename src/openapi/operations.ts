import { encodePath, escapeControls } from "../spec/redact.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path } from "../spec/schema/shape.js";
import { didYouMean, quote } from "../spec/schema/words.js";
import { type Content, contentIn } from "./contents.js";
import { type ApiDocument, methods, resolved } from "./document.js";
import { documentLimits } from "./limits.js";
import { keptIn } from "./once.js";
import type { SchemaReader, Schemas } from "./schemas.js";

// The operations of a document.

/** An operation, and where the document describes it. */
export interface Operation {
  readonly method: string;
  /** With the base path of its server. */
  readonly path: string;
  readonly id: string;
  readonly at: Members;
  readonly place: Path;
  readonly parameters: readonly Parameter[];
  /** By status, such as `404`, `4XX` or `default`. */
  readonly responses: ReadonlyMap<string, Content>;
  /** Of its success. */
  readonly status: 200 | 201 | 202 | 204;
  readonly success: Content;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly isRequired: boolean;
  readonly at: Members;
  readonly place: Path;
}

/** Two paths that differ only in the names of their parameters are the same route. */
export const routeKey = ({ method, path }: { readonly method: string; readonly path: string }) =>
  `${method} ${path.replace(/\{[^{}]*\}/g, "{}")}`;

/** An operation that is not served, such as `GET /things`, and why. */
export interface Unserved {
  readonly operation: string;
  readonly why: string;
}

/** The operations that can be served, and the others; with `wanted`, only those with these ids. */
export function operationsOf(
  document: ApiDocument,
  { response: reader }: Schemas,
  wanted: readonly string[] | undefined,
) {
  const { report, notes } = document;
  const found: Operation[] = [];
  const unserved: Unserved[] = [];
  const contents = new Map<Members, Content>();
  const routes = new Map<string, string>();
  const ids = new Set<string>();
  let parts = 0;
  for (const one of describedIn(document)) {
    const { at, method, path, place } = one;
    const name = `${method} ${path}`;
    const { id, isOther } = freeId(at.operationId, `${method.toLowerCase()} ${one.template}`, ids);
    if (isOther)
      notes.add("differs", name, `has the operation id of another one; here it is ${id}`, "have an id twice");
    if (wanted !== undefined && !wanted.includes(id)) continue;
    const responses = responsesIn(document, reader, at, [...place, "responses"], contents);
    const parameters = parametersIn(document, one.owners);
    const success = successOf(one, responses, parameters, routes);
    if (typeof success === "string") {
      unserved.push({ operation: name, why: success });
      notes.add("broken", name, `is not served: ${success}`, `are not served: ${success}`);
    } else {
      checkParameters(document, id, path, parameters);
      found.push({ ...{ method, path, id, at, place, parameters, responses }, ...success });
      parts += parameters.length;
    }
    parts += responses.size;
    if (parts > documentLimits.parts || found.length > documentLimits.operations) {
      const max =
        parts > documentLimits.parts
          ? `${documentLimits.parts} parameters and responses`
          : `${documentLimits.operations}`;
      const what = `after following references, the operations are more than ${max}`;
      report("too_large", place, what, "serve a part: --operations ID,ID");
      break;
    }
  }
  // The most specific path responds: with the fewest parameters, then with the most other characters around them.
  const specificity = ({ path }: Operation) =>
    path
      .split("/")
      .filter((step) => step.includes("{"))
      .reduce((sum, step) => sum + 10_000 - step.replace(/\{.*?\}/g, "").length, 0);
  for (const id of wanted ?? [])
    if (!found.some((one) => one.id === id))
      report("unknown_operation", [], unknownOperation(id, ids).message, "correct --operations");
  return { found: found.sort((one, other) => specificity(one) - specificity(other)), unserved };
}

/** What is wrong with a name of an operation, and how to correct it. */
export function unknownOperation(id: string, known: Iterable<string>) {
  const hint = didYouMean(id, known).trim() || "write an operation id of the document";
  return { message: `the document has no operation ${quote(id)}`, hint };
}

type Described = Pick<Operation, "method" | "path" | "at" | "place"> & {
  readonly template: string;
  readonly owners: readonly (readonly [Members, Path])[];
};

/** Every operation that a document describes; reports a path of the sandbox itself. */
function* describedIn(document: ApiDocument): Generator<Described> {
  const { root, report } = document;
  for (const [template, item] of Object.entries(isMapping(root.paths) ? root.paths : {})) {
    const { at: pathItem, path: around } = resolved(document, item, ["paths", template]);
    for (const name of methods.filter((one) => isMapping(pathItem[one]))) {
      const at = pathItem[name] as Members;
      const place = [...around, name];
      const method = name.toUpperCase();
      const base = basePath(at.servers ?? pathItem.servers ?? root.servers);
      const path = encodePath(base + template.replace(/[?#].*$/s, ""));
      if (/^\/__sandbox(?:\/|$)/i.test(path)) {
        const what = `${method} ${path} is a path of the sandbox itself`;
        report("openapi_conflict", place, what, "change the path, or the server's base path");
      }
      const owners = [
        [pathItem, around],
        [at, place],
      ] as const;
      yield { method, path, at, place, template, owners };
    }
  }
}

const successes = [200, 201, 202, 204] as const;

/** The success of an operation, or why it cannot be served. */
function successOf(
  one: Described,
  responses: Operation["responses"],
  parameters: readonly Parameter[],
  routes: Map<string, string>,
) {
  const styled = parameters.find(
    ({ in: where, at }) => where === "path" && /^(?:matrix|label)$/.test(String(at.style)),
  );
  if (styled !== undefined) return `the style ${String(styled.at.style)} of {${styled.name}} is not read`;
  const isWrong = (step: string) => /[{}]/.test(step) && !/^[^{}]*\{[^{}]+\}[^{}]*$/.test(step);
  if (one.path.split("/").some(isWrong)) return "a segment has several parameters, or a brace alone";
  const status = successes.find((each) => responses.has(String(each))) ?? 200;
  const success = contentAt(responses, status);
  if (success === undefined) return "no response with status 200, 201, 202 or 204 is documented";
  return sameRoute(routes, one) ?? { status, success };
}

function sameRoute(routes: Map<string, string>, { method, path }: Described): string | undefined {
  const key = routeKey({ method, path });
  const earlier = routes.get(key);
  if (earlier === undefined) routes.set(key, path);
  if (earlier === path) return "an operation before it has the same path";
  return earlier && `${method} ${earlier} differs only in the name of a parameter`;
}

/** The names of the parameters in a path. */
export function parameterNames(path: string): string[] {
  return Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name]) => name as string);
}

/** Checks the names of path parameters: a wrong one would reject every request. */
function checkParameters(
  { report, notes }: ApiDocument,
  id: string,
  path: string,
  parameters: readonly Parameter[],
): void {
  const names = parameterNames(path);
  const declared = parameters.filter((one) => one.in === "path");
  for (const { name, place } of declared) {
    if (names.includes(name)) continue;
    const hint = didYouMean(name, names) || "rename it, or remove it";
    report("openapi_invalid", [...place, "name"], `the path ${path} has no {${name}}`, hint);
  }
  for (const name of names) {
    if (!declared.some((one) => one.name === name))
      notes.add("unchecked", id, `accepts any {${name}}: it does not declare it`, `do not declare {${name}}`);
  }
}

/** Reports a name that is shown and could be taken for something else there. Paths are encoded instead. */
export function checkName({ report }: ApiDocument, name: string, isFine: boolean, place: Path): void {
  if (!isFine)
    report(
      "openapi_name",
      place,
      `the name ${quote(name)} has a character that names cannot have`,
      "rename it",
    );
}

/** The path of the first server. */
function basePath(servers: unknown): string {
  const [server] = Array.isArray(servers) ? servers : [];
  if (!isMapping(server) || typeof server.url !== "string") return "";
  const variables = isMapping(server.variables) ? server.variables : {};
  const defaultOf = (name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isMapping(variable) ? String(variable.default) : "";
  };
  const url = server.url.replace(/\{([^{}]*)\}/g, (_, name) => defaultOf(name));
  return (
    /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/[^/?#]*)?([^?#]*)/i
      .exec(url)?.[1]
      ?.replace(/\/+$/, "")
      .replace(/^(?=[^/])/, "/") ?? ""
  );
}

// In path ids: `201.createPet`.
function freeId(
  given: unknown,
  name: string,
  taken: Set<string>,
): { readonly id: string; readonly isOther: boolean } {
  const words = (typeof given === "string" ? given : name)
    .replace(/[^\w-]+/g, "-")
    .replace(/^[^A-Za-z]+|-+$/g, "")
    .slice(0, 100);
  let id = words || "operation";
  for (let number = 2; taken.has(id); number++) id = `${words}-${number}`;
  taken.add(id);
  return { id, isOther: id !== (words || "operation") };
}

function parametersIn(document: ApiDocument, owners: readonly (readonly [Members, Path])[]): Parameter[] {
  const all = new Map<string, Parameter>();
  for (const [{ parameters }, owner] of owners) {
    for (const [index, node] of (Array.isArray(parameters) ? parameters : []).entries()) {
      const { at, path: place } = resolved(document, node, [...owner, "parameters", index]);
      if (typeof at.name !== "string" || typeof at.in !== "string") continue;
      const isRequired = at.required === true || at.in === "path";
      checkName(document, at.name, escapeControls(at.name) === at.name, [...place, "name"]);
      // As in the path that has it.
      const name = at.in === "path" ? encodePath(at.name) : at.name;
      all.set(`${at.in} ${name}`, { name, in: at.in, isRequired, at, place });
    }
  }
  return [...all.values()];
}

/** The responses of an operation; `known` has those that other operations refer to. */
function responsesIn(
  document: ApiDocument,
  reader: SchemaReader,
  { responses }: Members,
  place: Path,
  known: Map<Members, Content>,
) {
  const entries = Object.entries(isMapping(responses) ? responses : {}).map(
    ([status, node]): [string, Content] => {
      const { at, path } = resolved(document, node, [...place, status]);
      return [status.toUpperCase(), keptIn(known, at, () => contentIn(document, reader, at, path))];
    },
  );
  return new Map(entries);
}

export function contentAt(responses: Operation["responses"], status: number): Content | undefined {
  return responses.get(String(status)) ?? responses.get(`${String(status)[0]}XX`) ?? responses.get("DEFAULT");
}
