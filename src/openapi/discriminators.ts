import { memberIn } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping } from "../rules/schema/shape.js";
import { type ApiDocument, resolved, valueAt } from "./document.js";
import type { Discriminator } from "./keywords.js";
import { whole } from "./merge.js";
import { keptIn } from "./once.js";

// A discriminator is a member of a value whose text names the schema of the value: an alternative of the schema with the
// discriminator, or a schema that inherits from it by `allOf`.

/** The named schemas of a document. */
export interface NamedSchemas {
  readonly document: ApiDocument;
  readonly byName: Members;
  readonly names: ReadonlyMap<unknown, string>;
  /** By a schema, those with it in their `allOf`. */
  readonly heirs: ReadonlyMap<unknown, readonly unknown[]>;
  readonly discriminators: Map<unknown, Discriminator | undefined>;
  /** Schemas without what chooses between others. */
  readonly plain: Map<unknown, Members>;
}

export function namedSchemas(document: ApiDocument): NamedSchemas {
  const schemas = valueAt(document.root, "#/components/schemas");
  const byName: Members = isMapping(schemas) ? schemas : {};
  const names = new Map(Object.entries(byName).map(([name, node]) => [node, name]));
  const heirs = new Map<unknown, unknown[]>();
  for (const node of names.keys())
    for (const part of partsOf(node)) keptIn(heirs, targetOf(document, part), () => []).push(node);
  return { document, byName, names, heirs, discriminators: new Map(), plain: new Map() };
}

const partsOf = (node: unknown): readonly unknown[] =>
  isMapping(node) && Array.isArray(node.allOf) ? node.allOf : [];

const targetOf = (document: ApiDocument, node: unknown): unknown => resolved(document, node, []).at;

/** A schema and those that inherit from it, in the order of the document. */
function familyOf(node: unknown, { heirs }: NamedSchemas): Set<unknown> {
  const family = new Set([node]);
  for (const member of family) for (const heir of heirs.get(member) ?? []) family.add(heir);
  return family;
}

/** What the discriminator of a schema chooses between; `undefined` for a schema without, or if no names are known. */
export function discriminatorOf(node: Members, named: NamedSchemas): Discriminator | undefined {
  const { discriminator } = node;
  if (!isMapping(discriminator) || typeof discriminator.propertyName !== "string") return undefined;
  const { propertyName: name, mapping } = discriminator;
  return keptIn(named.discriminators, node, () => {
    const branches = branchesOf(node, name, mappedBy(mapping, named), named);
    return branches.size === 0 ? undefined : { name, branches };
  });
}

function branchesOf(
  node: Members,
  name: string,
  mapped: ReadonlyMap<string, unknown>,
  named: NamedSchemas,
): ReadonlyMap<string, unknown> {
  const { oneOf, anyOf, properties } = node;
  // Some documents name a member that is not a text.
  const { type = "string" } = wholeIn(memberIn(properties, [name]), named.document);
  if (![type].flat().includes("string")) return new Map();
  const alternatives = [oneOf, anyOf].find(Array.isArray)?.filter((one) => !isNull(one));
  const nodes: readonly unknown[] = alternatives ?? inheritingOf(node, mapped, named);
  const isParent = alternatives === undefined;
  const branches = new Map<string, unknown>();
  for (const branch of nodes) {
    const values = valuesFor(branch, name, mapped, named);
    const isNamed = values.length === 1 || mapped.has(values[0] ?? "");
    const free = values.filter((value) => !branches.has(value));
    // Each alternative needs values of its own. A parent may have heirs without one, or with that of their parent.
    if (!isParent && (values.length === 0 || free.length < values.length)) return new Map();
    if (isParent && !isNamed) continue;
    for (const value of free) branches.set(value, branch === node ? withoutChoice(node, named) : branch);
  }
  return branches;
}

const isNull = (node: unknown) => isMapping(node) && node.type === "null";

/** The schemas that a parent chooses between: its heirs, and with a mapping only itself if that names it. */
function inheritingOf(node: Members, mapped: ReadonlyMap<string, unknown>, named: NamedSchemas): unknown[] {
  const family = new Set(familyOf(node, named));
  family.delete(node);
  for (const target of mapped.values()) family.add(target);
  if (mapped.size === 0 && family.size > 0) family.add(node);
  return [...family];
}

/** The schemas that a mapping has values for: by their names or their places. */
function mappedBy(mapping: unknown, { document, byName }: NamedSchemas): Map<string, unknown> {
  const targets = Object.entries(isMapping(mapping) ? mapping : {}).map(([value, to]) => {
    const name = String(to);
    const node = Object.hasOwn(byName, name) ? byName[name] : valueAt(document.root, name);
    return [value, targetOf(document, node)] as const;
  });
  return new Map(targets);
}

/** The values that name a schema: those of the mapping, its own name, or the choices that only it has. */
function valuesFor(
  node: unknown,
  member: string,
  mapped: ReadonlyMap<string, unknown>,
  { document, names }: NamedSchemas,
): string[] {
  const target = targetOf(document, node);
  const mappedValues = [...mapped].filter(([, one]) => one === target).map(([value]) => value);
  if (mappedValues.length > 0) return mappedValues;
  const choices = choicesIn(node, member, document);
  const name = names.get(target);
  if (name !== undefined && (choices === undefined || choices.includes(name))) return [name];
  return (choices ?? []).map(String).filter((value) => !mapped.has(value));
}

/** A schema of the document as it is written, with its references and the parts of `allOf`. */
function wholeIn(node: unknown, { root }: ApiDocument): Members {
  const view = (one: unknown) => (isMapping(one) ? one : {});
  return whole({ view, target: (reference) => valueAt(root, reference) }, node);
}

/** The values that a schema allows for a member; `undefined` for any. */
function choicesIn(node: unknown, member: string, document: ApiDocument): readonly unknown[] | undefined {
  const { properties } = wholeIn(node, document);
  if (!isMapping(properties) || !Object.hasOwn(properties, member)) return undefined;
  const { enum: choices, const: only } = wholeIn(properties[member], document);
  return only !== undefined ? [only] : Array.isArray(choices) ? choices : undefined;
}

function withoutChoice(node: Members, { plain }: NamedSchemas): Members {
  return keptIn(plain, node, () => {
    const { discriminator: _, oneOf: __, anyOf: ___, ...rest } = node;
    return rest;
  });
}

/** A schema with the values that name it, if it inherits a discriminator. */
export function inheriting(node: Members, named: NamedSchemas): Members {
  const restrictions: Members[] = [];
  const parts = partsOf(node);
  const allOf = parts.map((part) => {
    const parent = targetOf(named.document, part);
    const discriminator = isMapping(parent) ? discriminatorOf(parent, named) : undefined;
    if (!isMapping(parent) || discriminator === undefined) return part;
    const family = familyOf(node, named);
    const values = [...discriminator.branches]
      .filter(([, one]) => family.has(targetOf(named.document, one)))
      .map(([value]) => value);
    // A named schema without a value of its own, because it has several choices, is chosen by none.
    if (values.length === 0) return named.names.has(node) ? withoutChoice(parent, named) : part;
    const { properties } = wholeIn(parent, named.document);
    // A request need not have a member that is only read, and the reverse.
    const { readOnly, writeOnly } = wholeIn(memberIn(properties, [discriminator.name]), named.document);
    const member = { enum: values, readOnly, writeOnly };
    restrictions.push({ properties: { [discriminator.name]: member }, required: [discriminator.name] });
    return withoutChoice(parent, named);
  });
  const isSame = allOf.every((part, at) => part === parts[at]);
  return isSame ? node : { ...node, allOf: [...allOf, ...restrictions] };
}
