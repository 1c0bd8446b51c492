import { encodePath, escapeControls } from "../spec/redact.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping, type Path } from "../spec/schema/shape.js";
import { quote } from "../spec/schema/words.js";
import { type Content, contentIn } from "./contents.js";
import { type ApiDocument, resolved } from "./document.js";
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
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly isRequired: boolean;
  readonly at: Members;
  readonly place: Path;
}

const mostOperations = 2000;
const mostParts = 50_000;
const methods = ["get", "post", "put", "patch", "delete"];

/** Lists the operations; `notServed` gets each other one, and why. */
export function operationsOf(
  document: ApiDocument,
  { response: reader }: Schemas,
  notServed: (operation: string, why: string) => void,
): Operation[] {
  const { root, report } = document;
  const found: Operation[] = [];
  const known = new Map<Members, Content>();
  let parts = 0;
  const ids = new Set<string>();
  for (const [template, item] of Object.entries(isMapping(root.paths) ? root.paths : {})) {
    const { at: pathItem, path: place } = resolved(document, item, ["paths", template]);
    for (const method of methods.filter((one) => isMapping(pathItem[one]))) {
      const at = pathItem[method] as Members;
      const base = basePath(at.servers ?? pathItem.servers ?? root.servers);
      const path = encodePath(base + template.replace(/[?#].*$/s, ""));
      const name = `${method.toUpperCase()} ${path}`;
      const own = [...place, method];
      if (/^\/__sandbox(?:\/|$)/i.test(path)) {
        report(
          "openapi_conflict",
          own,
          `${name} is a path of the sandbox itself`,
          "change the path, or the server's base path",
        );
      }
      const responses = responsesIn(document, reader, at, [...own, "responses"], known);
      if (path.split("/").some((step) => step.includes("{") && !/^\{[^{}]+\}$/.test(step))) {
        notServed(name, "a parameter is only a part of a segment");
      } else if (successOf(responses) === undefined) {
        notServed(name, "it documents no response with status 200, 201, 202 or 204");
      } else {
        const id = freeId(at.operationId, `${method} ${template}`, ids);
        const parameters = parametersIn(document, [
          [pathItem, place],
          [at, own],
        ]);
        found.push({ method: method.toUpperCase(), path, id, at, place: own, parameters, responses });
        parts += parameters.length;
      }
      parts += responses.size;
      if (parts > mostParts) {
        const what = `after following references, the operations have more than ${mostParts} parameters and responses`;
        report("too_large", own, what, "give each operation only what it needs");
        return found;
      }
      if (found.length === mostOperations)
        report("too_large", own, `more than ${mostOperations} operations`, "remove some");
    }
  }
  // The most specific path responds.
  const variables = ({ path }: Operation) => path.split("{").length;
  return found.sort((one, other) => variables(one) - variables(other));
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
function freeId(given: unknown, name: string, taken: Set<string>): string {
  const words = (typeof given === "string" ? given : name)
    .replace(/[^\w-]+/g, "-")
    .replace(/^[^A-Za-z]+|-+$/g, "")
    .slice(0, 100);
  let id = words || "operation";
  for (let number = 2; taken.has(id); number++) id = `${words}-${number}`;
  taken.add(id);
  return id;
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
      const content = known.get(at) ?? contentIn(document, reader, at, path);
      known.set(at, content);
      return [status.toUpperCase(), content];
    },
  );
  return new Map(entries);
}

const successes = [200, 201, 202, 204] as const;

export function successOf(responses: Operation["responses"]): (typeof successes)[number] | undefined {
  return (
    successes.find((status) => responses.has(String(status))) ??
    (responses.has("2XX") || responses.has("DEFAULT") ? 200 : undefined)
  );
}

export function contentAt(responses: Operation["responses"], status: number): Content | undefined {
  return responses.get(String(status)) ?? responses.get(`${String(status)[0]}XX`) ?? responses.get("DEFAULT");
}
