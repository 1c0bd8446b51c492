import type { Endpoint } from "../api/endpoint.js";
import { describeApi } from "../api/openapi.js";
import type { Members } from "../spec/schema/messages.js";
import { isMapping } from "../spec/schema/shape.js";
import { type ApiDocument, valueAt } from "./document.js";
import { type Operation, routeKey } from "./operations.js";
import { type SchemaReader, whole } from "./schemas.js";

// The differences between a document and the operations that the sandbox has built in.

/** Lists each difference between the operations of a document and the built-in ones, as sentences. */
export function differencesTo(
  own: readonly Endpoint[],
  operations: readonly Operation[],
  document: ApiDocument,
): string[] {
  const described = describeApi(own);
  const found = keyDifferences(document);
  for (const operation of operations) {
    const endpoint = own.find((one) => routeKey(one) === routeKey(operation));
    const sameId = own.find(({ operationId }) => operationId === operation.id);
    const name = `${operation.method} ${operation.path}`;
    if (endpoint === undefined) {
      if (sameId !== undefined)
        found.push(`${operation.id} is ${name} in the document and ${sameId.method} ${sameId.path} here.`);
      continue;
    }
    const { status = 200, operationId } = endpoint;
    if (operation.id !== operationId)
      found.push(`${name} has the operation id ${operation.id} in the document and ${operationId} here.`);
    const content = operation.responses.get(String(status));
    if (content === undefined) {
      found.push(`${name} documents no response with status ${status}, which it has here.`);
      continue;
    }
    if (content.schema === undefined) continue;
    const here = valueAt(described, `#/components/schemas/${endpoint.responseName}`);
    const plain = { view: (node: unknown) => node as Members, target: () => undefined };
    const there = { node: content.schema, reader: content.reader };
    const problems = schemaDifferences(there, { node: here, reader: plain }, "");
    found.push(...problems.map((one) => `${name}: ${one}`));
  }
  const isDocumented = (one: Endpoint) =>
    operations.some((operation) => routeKey(operation) === routeKey(one));
  const missing = operations.length === 0 ? [] : own.filter((one) => !isDocumented(one));
  for (const { method, path } of missing)
    found.push(`The document does not have ${method} ${path}, which the sandbox has.`);
  return found;
}

// Every request to the sandbox has its key in `x-api-key`.
function keyDifferences({ root }: ApiDocument): string[] {
  const schemes = valueAt(root, "#/components/securitySchemes");
  const all = Object.entries(isMapping(schemes) ? schemes : {});
  const isOurs = (one: unknown) =>
    isMapping(one) && one.in === "header" && String(one.name).toLowerCase() === "x-api-key";
  if (all.length === 0 || all.some(([, one]) => isOurs(one))) return [];
  return [
    `The document authenticates with ${all.map(([name]) => name.slice(0, 60)).join(", ")}; here each request has its key in x-api-key.`,
  ];
}

interface Side {
  readonly node: unknown;
  readonly reader: Pick<SchemaReader, "view" | "target">;
}

const mostNested = 12;

function schemaDifferences(one: Side, other: Side, at: string, nested = 0): string[] {
  if (!isMapping(one.node) || !isMapping(other.node) || nested > mostNested) return [];
  const [there, here] = [whole(one.reader, one.node), whole(other.reader, other.node)];
  const place = at === "" ? "the body" : at;
  const [typeThere, typeHere] = [typeOf(there), typeOf(here)];
  if (typeThere !== undefined && typeHere !== undefined && typeThere !== typeHere) {
    return [`${place} is ${typeThere} in the document and ${typeHere} here.`];
  }
  const [inThere, inHere] = [there.properties, here.properties].map((all) => (isMapping(all) ? all : {})) as [
    Members,
    Members,
  ];
  const isRequired = ({ required }: Members, name: string) =>
    Array.isArray(required) && required.includes(name);
  const inside = (node: unknown, same: unknown, where: string) =>
    schemaDifferences({ ...one, node }, { ...other, node: same }, where, nested + 1);
  const found = Object.keys({ ...inThere, ...inHere }).flatMap((name) => {
    const inner = at === "" ? name : `${at}.${name}`;
    if (!Object.hasOwn(inThere, name))
      return typeThere === undefined ? [] : [`${inner} is only here, not in the document.`];
    if (!Object.hasOwn(inHere, name)) return [`${inner} is only in the document, not here.`];
    const [needed, neededHere] = [there, here].map((all) =>
      isRequired(all, name) ? "required" : "optional",
    );
    const needs = `${inner} is ${needed} in the document and ${neededHere} here.`;
    return [...(needed === neededHere ? [] : [needs]), ...inside(inThere[name], inHere[name], inner)];
  });
  return [...found, ...inside(there.items, here.items, `${place}[]`)];
}

function typeOf({
  type,
  enum: choices,
  const: constant,
}: Readonly<Record<string, unknown>>): string | undefined {
  const choice = constant === undefined ? choices : [constant];
  if (Array.isArray(choice)) return `one of ${choice.map(String).sort().join(", ")}`;
  if (type === undefined) return undefined;
  const word = Array.isArray(type) ? [...type].sort().join(" or ") : String(type);
  return `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;
}
