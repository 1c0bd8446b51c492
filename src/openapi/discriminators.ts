import { memberIn } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping } from "../rules/schema/shape.js";
import { type ApiDocument, resolved, valueAt } from "./document.js";

const partsOf = (node: unknown): readonly unknown[] =>
  isMapping(node) && Array.isArray(node.allOf) ? node.allOf : [];

/** Whether a schema, or a part of its `allOf`, has a member with this flag. */
export function hasMemberWith(
  document: ApiDocument,
  node: unknown,
  name: string,
  flag: "readOnly" | "writeOnly",
  seen = new Set<Members>(),
): boolean {
  const { node: schema } = resolved(document, node, []);
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { node: member } = resolved(document, memberIn(schema.properties, [name]), []);
  return (
    member[flag] === true || partsOf(schema).some((part) => hasMemberWith(document, part, name, flag, seen))
  );
}

/** What the discriminator of a schema chooses between: a member's text names an alternative, or an heir by `allOf`. */
interface Choice {
  readonly name: string;
  /** By value, a schema or its reference. */
  readonly branches: ReadonlyMap<string, unknown>;
  readonly isInherited: boolean;
  readonly allowsNull: boolean;
}

/** The schema of an object whose member has one of these values. */
export const named = (name: string, values: readonly string[], isRequired = true): Members => ({
  type: "object",
  properties: { [name]: values.length === 1 ? { const: values[0] } : { enum: values } },
  ...(isRequired && { required: [name] }),
});
export const isNull = (node: unknown) => isMapping(node) && node.type === "null";

export class Discriminators {
  readonly #document: ApiDocument;
  readonly #byName: Members;
  readonly #names: ReadonlyMap<unknown, string>;
  readonly #heirs = new Map<unknown, unknown[]>();
  readonly #choices = new Map<Members, Choice | undefined>();

  constructor(document: ApiDocument) {
    const schemas = valueAt(document.root, "#/components/schemas");
    this.#document = document;
    this.#byName = isMapping(schemas) ? schemas : {};
    this.#names = new Map(Object.entries(this.#byName).map(([name, node]) => [node, name]));
    for (const node of this.#names.keys())
      for (const parent of partsOf(node).map((part) => this.#targetOf(part)))
        this.#heirs.set(parent, [...(this.#heirs.get(parent) ?? []), node]);
  }

  /** What a schema chooses between; `undefined` for none, or if not every alternative has a value. */
  of(node: Members): Choice | undefined {
    if (!isMapping(node.discriminator)) return undefined;
    if (!this.#choices.has(node)) this.#choices.set(node, this.#choiceOf(node, node.discriminator));
    return this.#choices.get(node);
  }

  /** A schema with the values that name it, if it inherits a discriminator. */
  ownValues(node: Members, schema: Members, isRequest: boolean): Members {
    const parent = partsOf(node)
      .map((part) => this.#targetOf(part))
      .find((one) => this.of(one)?.isInherited);
    const choice = parent && this.of(parent);
    const targetOf = (to: unknown) => this.#targetOf(typeof to === "string" ? { $ref: to } : to);
    const values = [...(choice?.branches ?? [])].flatMap(([value, to]) =>
      targetOf(to) === node ? value : [],
    );
    if (choice === undefined || values.length === 0) return schema;
    const isFree = isRequest && hasMemberWith(this.#document, parent, choice.name, "readOnly");
    return { ...schema, allOf: [...partsOf(schema), named(choice.name, values, !isFree)] };
  }

  #targetOf(node: unknown): Members {
    return resolved(this.#document, node, []).node;
  }

  #choiceOf(self: Members, { propertyName: name, mapping }: Members): Choice | undefined {
    const { oneOf, anyOf, nullable } = self;
    const { type = "string" } = this.#targetOf(memberIn(self.properties, [String(name)]));
    if (typeof name !== "string" || ![type].flat().includes("string")) return undefined;
    const alternatives: readonly unknown[] | undefined = [oneOf, anyOf].find(Array.isArray);
    const toNode = (to: unknown) => this.#byName[String(to)] ?? valueAt(this.#document.root, String(to));
    const pairs = Object.entries(isMapping(mapping) ? mapping : {});
    const mapped = new Map(pairs.map(([value, to]) => [value, toNode(to)]));
    const nodes = alternatives?.filter((one) => !isNull(one)) ?? this.#familyOf(self, mapped);
    const branches = new Map<string, unknown>();
    for (const node of nodes) {
      const values = this.#valuesFor(this.#targetOf(node), name, mapped);
      if (alternatives !== undefined && (values.length === 0 || values.some((one) => branches.has(one))))
        return undefined;
      // A heir with several choices of its own is chosen by none.
      if (alternatives === undefined && values.length > 1 && !mapped.has(values[0] as string)) continue;
      const component = this.#names.get(this.#targetOf(node))?.replaceAll("~", "~0").replaceAll("/", "~1");
      for (const value of values)
        branches.set(value, component === undefined ? node : `#/components/schemas/${component}`);
    }
    if (branches.size === 0) return undefined;
    const allowsNull = nullable === true || alternatives?.some(isNull) === true;
    const isHeir = (node: unknown) =>
      partsOf(this.#targetOf(node)).some((part) => this.#targetOf(part) === self);
    return { name, branches, isInherited: alternatives === undefined || [...nodes].some(isHeir), allowsNull };
  }

  /** The heirs of a schema, and what a mapping names; without a mapping also itself. */
  #familyOf(self: unknown, mapped: ReadonlyMap<string, unknown>): Set<unknown> {
    const family = new Set(this.#heirs.get(self) ?? []);
    for (const heir of family) for (const next of this.#heirs.get(heir) ?? []) family.add(next);
    for (const node of mapped.values()) family.add(node);
    return mapped.size === 0 && family.size > 0 ? family.add(self) : family;
  }

  /** The values in the mapping that name a schema, or its own name, or the choices that only it has. */
  #valuesFor(node: Members, member: string, mapped: ReadonlyMap<string, unknown>): string[] {
    const values = [...mapped].flatMap(([value, meant]) => (meant === node ? value : []));
    const name = this.#names.get(node);
    if (values.length > 0) return values;
    const parts = [node, ...partsOf(node)].map((part) => this.#targetOf(part));
    const described = parts.map(({ properties }) => memberIn(properties, [member]));
    const { enum: choices, const: only } = this.#targetOf(described.findLast((one) => one !== undefined));
    const allowed = only === undefined ? choices : [only];
    if (Array.isArray(allowed) && !allowed.includes(name)) return allowed.map(String);
    return name === undefined ? [] : [name];
  }
}
