import { encodePath } from "../rules/redact.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path } from "../rules/schema/shape.js";
import { type ApiDocument, resolved, valueAt } from "./document.js";
import { type DocumentedResponse, documentedResponse, type SchemasByUse } from "./samples.js";

// The operations of a document.

/** What a note has before the parts that are not checked. */
export const unchecked = ["does not check", "operations do not check"] as const;

/** An operation, and where the document describes it. */
export interface Operation {
  readonly method: string;
  /** With the base path of its server. */
  readonly path: string;
  readonly id: string;
  /** Its object in the document. */
  readonly node: Members;
  readonly place: Path;
  readonly parameters: readonly Parameter[];
  /** By status, such as `404`, `4XX` or `default`. */
  readonly responses: ReadonlyMap<string, DocumentedResponse>;
  /** Of its success. */
  readonly status: 200 | 201 | 202 | 204;
  readonly success: DocumentedResponse;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly isRequired: boolean;
  readonly node: Members;
  readonly place: Path;
}

/** Two paths that differ only in the names of their parameters are the same route. */
export const routeKey = ({ method, path }: { readonly method: string; readonly path: string }) =>
  `${method} ${path.replace(/\{[^{}]*\}/g, "{}")}`;

/** The operations that can be served. */
export function operationsOf(document: ApiDocument, schemas: SchemasByUse): readonly Operation[] {
  const { notes } = document;
  const served: Operation[] = [];
  const routes = new Map<string, string>();
  const ids = new Set<string>();
  for (const described of describedIn(document)) {
    const { node, method, path, place } = described;
    // The path of a name such as `/responses?beta=true` is served without its end.
    const [end = ""] = /[?#].*$/s.exec(described.template) ?? [];
    const name = `${method} ${path}${end}`;
    const { id, isOther } = freeId(node.operationId, `${method.toLowerCase()} ${described.template}`, ids);
    if (isOther) {
      const one = "gets another operation id, because its own is taken";
      const many = "operations get another operation id, because their own is taken";
      notes.add("differs", name, [one, many], "", id);
    }
    const responses = responsesIn(schemas, node, [...place, "responses"]);
    const parameters = parametersIn(document, described.owners);
    const success = successOf(described, responses, parameters, routes);
    if (typeof success === "string") {
      notes.add("broken", name, ["is not served:", "operations are not served:"], success);
    } else {
      const used = usedIn(path, parameters, document, id);
      served.push({ method, path, id, node, place, parameters: used, responses, ...success });
    }
  }
  return served.sort((one, other) => specificity(one) - specificity(other));
}

/** The most specific path responds: with the fewest parameters, then with the most other characters around them. */
function specificity({ path }: Operation): number {
  const inPath = path.split("/").filter((step) => step.includes("{"));
  return inPath.reduce((sum, step) => sum + 10_000 - step.replace(/\{.*?\}/g, "").length, 0);
}

type Described = Pick<Operation, "method" | "path" | "node" | "place"> & {
  readonly template: string;
  /** The path item and the operation: both may have parameters. */
  readonly owners: readonly { readonly node: Members; readonly place: Path }[];
};

const methods = ["get", "post", "put", "patch", "delete", "head", "options", "trace", "query"];

/** Every operation that a document describes. */
function* describedIn(document: ApiDocument): Generator<Described> {
  const { root } = document;
  for (const [template, item] of Object.entries(isMapping(root.paths) ? root.paths : {})) {
    const { node: pathItem, path: around } = resolved(document, item, ["paths", template]);
    for (const name of methods) {
      if (!isMapping(pathItem[name])) continue;
      const { node, path: place } = resolved(document, pathItem[name], [...around, name]);
      const base = basePath(node.servers ?? pathItem.servers ?? root.servers);
      const path = encodePath(base + template.replace(/[?#].*$/s, ""));
      const owners = [
        { node: pathItem, place: around },
        { node, place },
      ];
      yield { method: name.toUpperCase(), path, node, place, template, owners };
    }
  }
}

const successes = [200, 201, 202, 204] as const;

/** The success of an operation, or why it cannot be served. */
function successOf(
  { method, path }: Described,
  responses: Operation["responses"],
  parameters: readonly Parameter[],
  routes: Map<string, string>,
) {
  if (/^(?:OPTIONS|TRACE|QUERY)$/.test(method)) return `the method ${method} is not read`;
  if (!path.startsWith("/")) return "its path does not start with a slash";
  if (/^\/__sandbox(?:\/|$)/i.test(path)) return "the sandbox needs its path itself";
  const isUnread = ({ in: where, node }: Parameter) =>
    where === "path" && /^(?:matrix|label)$/.test(String(node.style));
  const unread = parameters.find(isUnread);
  if (unread !== undefined) return `the style ${String(unread.node.style)} of {${unread.name}} is not read`;
  const isWrong = (step: string) => /[{}]/.test(step) && !/^[^{}]*\{[^{}]+\}[^{}]*$/.test(step);
  if (path.split("/").some(isWrong)) return "a segment has several parameters, or a brace alone";
  const status = successes.find((each) => responses.has(String(each))) ?? 200;
  const success = responseAt(responses, status);
  if (success === undefined) return "no response with status 200, 201, 202 or 204 is documented";
  return sameRoute(routes, method, path) ?? { status, success };
}

function sameRoute(routes: Map<string, string>, method: string, path: string): string | undefined {
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

function parametersIn(document: ApiDocument, owners: Described["owners"]): Parameter[] {
  const byPlace = new Map<string, Parameter>();
  for (const owner of owners) {
    const { parameters } = owner.node;
    for (const [index, parameter] of (Array.isArray(parameters) ? parameters : []).entries()) {
      const { node, path: place } = resolved(document, parameter, [...owner.place, "parameters", index]);
      if (typeof node.name !== "string" || typeof node.in !== "string") continue;
      const isInPath = node.in === "path";
      // As in the path that has it.
      const name = isInPath ? encodePath(node.name) : node.name;
      byPlace.set(`${node.in} ${name}`, {
        name,
        in: node.in,
        isRequired: node.required === true || isInPath,
        node,
        place,
      });
    }
  }
  return [...byPlace.values()];
}

/** The parameters without those that the path does not have: they would reject every request. */
function usedIn(path: string, parameters: readonly Parameter[], { notes }: ApiDocument, id: string) {
  const names = parameterNames(path);
  const isLost = (one: Parameter) => one.in === "path" && !names.includes(one.name);
  const inBraces = (all: readonly string[]) => all.map((name) => `{${name}}`).join(", ");
  const lost = parameters.filter(isLost).map(({ name }) => name);
  if (lost.length > 0) {
    const what = "a parameter that its path does not have";
    notes.add("differs", id, ["declares", "operations declare"], what, inBraces(lost));
  }
  const isDeclared = (name: string) => parameters.some((one) => one.in === "path" && one.name === name);
  const undeclared = names.filter((name) => !isDeclared(name));
  if (undeclared.length > 0) {
    const what = "any value of a parameter that is not declared";
    notes.add("unchecked", id, ["accepts", "operations accept"], what, inBraces(undeclared));
  }
  return parameters.filter((one) => !isLost(one));
}

function responsesIn(schemas: SchemasByUse, { responses }: Members, place: Path) {
  const { document } = schemas.response;
  return new Map(
    Object.entries(isMapping(responses) ? responses : {}).map(([status, response]) => {
      const { node, path } = resolved(document, response, [...place, status]);
      return [status.toUpperCase(), documentedResponse(schemas, node, path)] as const;
    }),
  );
}

/** The response of a status: exact, such as `4XX`, or the default. */
export function responseAt(
  responses: Operation["responses"],
  status: number,
): DocumentedResponse | undefined {
  return responses.get(String(status)) ?? responses.get(`${String(status)[0]}XX`) ?? responses.get("DEFAULT");
}

/** The scopes in `security`, or `x-required-scope`. A key needs the first one. */
export function neededScopes({ id, node }: Operation, { root, notes }: ApiDocument): string[] {
  const { security = root.security, "x-required-scope": own } = node;
  const needs = Array.isArray(security) ? security.filter(isMapping) : [];
  const schemes = valueAt(root, "#/components/securitySchemes");
  const unknown = needs
    .flatMap(Object.keys)
    .filter((name) => !isMapping(schemes) || !Object.hasOwn(schemes, name));
  if (unknown.length > 0) {
    const what = "a security scheme that the document does not have";
    notes.add("unchecked", id, ["names", "operations name"], what, unknown.join(", "));
  }
  const scopes = needs.flatMap((one) => Object.values(one).flat());
  const texts = (scopes.length > 0 ? scopes : [own]).filter(
    (scope): scope is string => typeof scope === "string" && scope !== "",
  );
  const [, ...others] = new Set(texts);
  if (others.length > 0) notes.add("unchecked", id, unchecked, "more than one scope", others.join(", "));
  return texts;
}
