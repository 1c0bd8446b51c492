import { yamlLanguage } from "@codemirror/lang-yaml";

/** The members of a JSON Schema that completion reads. */
export interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly doNotSuggest?: boolean;
}

/** A possible text at a place, as CodeMirror shows it. */
interface Suggestion {
  readonly label: string;
  readonly type: "property" | "enum" | "variable";
  readonly detail?: string;
  readonly info?: string;
  /** Written instead of the label. */
  readonly apply?: string;
}

/** A step of a path in YAML: a key, or any item of a list. */
type Step = string | typeof item;
const item = Symbol("item");

type Node = ReturnType<typeof yamlLanguage.parser.parse>["topNode"];

const rootOf = (text: string): Node => yamlLanguage.parser.parse(text).topNode;

/** Suggestions for an offset, from the schema and the refs in the text. */
export function suggest(schema: Schema, text: string, offset: number) {
  const before = text.slice(0, offset).replace(/[\w.-]*$/, "");
  const after = text.slice(offset).replace(/^[\w.-]*(?::(?=\s|$))?/, "");
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (line.endsWith(":")) return undefined;
  // A word in place of the typed one shows where it belongs in the tree.
  const isValue = /: +$/.test(line);
  const whole = `${before}x${isValue ? "" : ":"}${after}`;
  const word = rootOf(whole).resolveInner(before.length, 1);
  // Anything else is a comment or a longer text.
  if (word.name !== "Literal") return undefined;
  const pair = isValue ? null : word.parent?.parent;
  const path = pathOf(pair ?? word, whole);
  const here = schemasAt(schema, path);
  const options = [
    ...(pair ? keysIn(here, pair, whole, line.length) : []),
    ...(isValue || path.at(-1) === item ? valuesOf(here, path, whole) : []),
  ];
  return options.length === 0 ? undefined : { from: before.length, options };
}

export function describeAt(schema: Schema, text: string, offset: number): string | undefined {
  const key = rootOf(text).resolveInner(offset, 1).parent;
  if (key?.name !== "Key" || key.parent === null) return undefined;
  return schemasAt(schema, [...pathOf(key.parent, text), textOf(key, text)])[0]?.description;
}

const textOf = (node: Node, text: string) => text.slice(node.from, node.to).replace(/^(["'])(.*)\1$/, "$2");

const keyOf = (pair: Node, text: string) => {
  const key = pair.getChild("Key");
  return key === null ? "" : textOf(key, text);
};

function pathOf(node: Node, text: string): readonly Step[] {
  const { parent } = node;
  if (parent === null) return [];
  const above = pathOf(parent, text);
  if (node.name === "Item") return [...above, item];
  return parent.name === "Pair" && node.name !== "Key" ? [...above, keyOf(parent, text)] : above;
}

function schemasAt(schema: Schema, path: readonly Step[]): readonly Schema[] {
  let here = alternatives(schema);
  for (const step of path) here = here.flatMap((one) => below(one, step)).flatMap(alternatives);
  return here;
}

function alternatives(schema: Schema): readonly Schema[] {
  return schema.anyOf === undefined ? [schema] : [schema, ...schema.anyOf.flatMap(alternatives)];
}

function below({ items, properties, additionalProperties: others }: Schema, step: Step): readonly Schema[] {
  if (step === item) return items === undefined ? [] : [items];
  const found = Object.hasOwn(properties ?? {}, step) ? properties?.[step] : undefined;
  if (found !== undefined) return [found];
  return typeof others === "object" ? [others] : [];
}

function keysIn(schemas: readonly Schema[], pair: Node, text: string, column: number): Suggestion[] {
  const siblings = (pair.parent?.getChildren("Pair") ?? []).map((one) => keyOf(one, text));
  return schemas
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .filter(([name, { doNotSuggest }]) => !siblings.includes(name) && doNotSuggest !== true)
    .map(([name, { type, description }]) => ({
      label: name,
      type: "property",
      apply: `${name}:${pair.parent?.name === "FlowMapping" ? " " : valueStart(type, column)}`,
      ...(type !== undefined && { detail: type }),
      ...(description !== undefined && { info: description }),
    }));
}

function valueStart(type: string | undefined, column: number): string {
  if (type !== "object" && type !== "array") return " ";
  return `\n${" ".repeat(column + 2)}${type === "array" ? "- " : ""}`;
}

function valuesOf(schemas: readonly Schema[], path: readonly Step[], text: string): Suggestion[] {
  const values = schemas.flatMap(({ enum: all, type }) => all ?? (type === "boolean" ? [true, false] : []));
  const info = schemas.find(({ description }) => description !== undefined)?.description;
  return [
    ...values.map((value) => ({
      label: String(value),
      type: "enum" as const,
      ...(info !== undefined && { info }),
    })),
    ...refsFor(path, text).map((label) => ({ label, type: "variable" as const })),
  ];
}

/** The refs for a field that refers to a key or an organization in the same text. */
function refsFor(path: readonly Step[], text: string): readonly string[] {
  const [last, before] = [path.at(-1), path.at(-2)];
  if (last === "key" && before === "request")
    return [...declaredRefs(text).keys, "none", "malformed", "unknown"];
  if (last === "default_key" || last === "key") return declaredRefs(text).keys;
  return last === "organization" || (last === "ref" && before === "organization")
    ? declaredRefs(text).organizations
    : [];
}

function declaredRefs(text: string) {
  const keys = new Set<string>();
  const organizations: string[] = [];
  rootOf(text)
    .cursor()
    .iterate(({ node }) => {
      if (node.name !== "Pair") return;
      const path = pathOf(node, text);
      const name = keyOf(node, text);
      if (path[0] === "organizations" && path.length === 1) organizations.push(name);
      if (path[0] === "organizations" && path[2] === "keys" && path.length === 3) keys.add(name);
      // Keys that the timeline or the story creates.
      if ((name === "ref" || name === "as") && node.lastChild) keys.add(textOf(node.lastChild, text));
    });
  return { keys: [...keys], organizations };
}
