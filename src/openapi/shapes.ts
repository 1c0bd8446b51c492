import type { Members } from "../spec/schema/messages.js";
import { anything, type Fields, isMapping, optional, type Shape } from "../spec/schema/shape.js";
import { type SchemaReader, whole } from "./schemas.js";

const mostParts = 2000;
const mostNested = 12;

/** The shape of a schema; what a shape cannot express, and what is too large or too deep, is `anything`. */
export function shapeOfSchema(reader: SchemaReader, schema: unknown): Shape {
  let left = mostParts;
  const shapeAt = (node: unknown, level: number): Shape => {
    left -= 1;
    return left < 0 || level > mostNested ? anything() : shapeOfWhole(whole(reader, node), level);
  };
  const shapeOfWhole = (made: Members, level: number): Shape => {
    const { type, anyOf, oneOf, enum: choices } = made;
    if (Array.isArray(type)) return ofTypes(made, type, level);
    if (made.const !== undefined) return choiceOf([made.const]);
    if (Array.isArray(choices)) return choiceOf(choices);
    const either = anyOf ?? oneOf;
    if (Array.isArray(either)) {
      const isMixed = isMapping(made.properties) || (anyOf !== undefined && oneOf !== undefined);
      return isMixed ? anything() : alternatives(either.map((one) => shapeAt(one, level + 1)));
    }
    return shapeOfType(made, level);
  };
  const ofTypes = (made: Members, types: readonly unknown[], level: number) => {
    const kinds = types.filter((one) => one !== "null");
    const choices = Array.isArray(made.enum) && { enum: made.enum.filter((one) => one !== null) };
    const options = kinds.map((one) => shapeOfWhole({ ...made, ...choices, type: one }, level));
    return alternatives(kinds.length < types.length ? [...options, { kind: "null" }] : options);
  };
  const shapeOfType = (made: Members, level: number): Shape => {
    const { type } = made;
    switch (type) {
      case "object":
      case undefined:
        return isMapping(made.properties) || type === "object" ? mappingOf(made, level) : anything();
      case "array":
        return { kind: "list", item: shapeAt(made.items ?? {}, level + 1), ...limits(made, "Items") };
      case "string": {
        const format = typeof made.format === "string" && { format: made.format };
        return { kind: "text", ...limits(made, "Length"), ...format };
      }
      case "integer":
      case "number":
        return { kind: "number", isWhole: type === "integer", ...limits(made, "imum") };
      case "boolean":
      case "null":
        return { kind: type };
      default:
        return anything();
    }
  };
  const mappingOf = ({ properties, required, additionalProperties: more }: Members, level: number): Shape => {
    const members = isMapping(properties) ? properties : {};
    if (Object.keys(members).length === 0 && isMapping(more))
      return { kind: "record", member: shapeAt(more, level + 1), isAsSpelled: true };
    const needed = Array.isArray(required) ? required.map(String) : [];
    const fieldOf = (name: string, node: unknown) => {
      const shape = shapeAt(node, level + 1);
      return needed.includes(name) ? shape : optional(shape);
    };
    const fields: Fields = Object.fromEntries([
      ...Object.entries(members).map(([name, one]) => [name, fieldOf(name, one)]),
      ...needed.filter((name) => !Object.hasOwn(members, name)).map((name) => [name, anything()]),
    ]);
    return { kind: "mapping", fields, isOpen: more !== false, isAsSpelled: true };
  };
  return shapeAt(schema, 0);
}

function limits(schema: Members, what: string) {
  const { [`min${what}`]: least, [`max${what}`]: most } = schema;
  return { ...(typeof least === "number" && { least }), ...(typeof most === "number" && { most }) };
}

function choiceOf(choices: readonly unknown[]): Shape {
  const given = choices.filter((one) => one !== null);
  const [first] = given;
  const isOfOneKind = given.every((one) => typeof one === typeof first);
  if (!isOfOneKind || !["string", "number", "boolean"].includes(typeof first)) return anything();
  const shape: Shape = { kind: "choice", choices: given as string[], code: "bad_choice" };
  return given.length < choices.length ? alternatives([shape, { kind: "null" }]) : shape;
}

function alternatives(options: readonly Shape[]): Shape {
  if (options.some(({ kind }) => kind === "anything")) return anything();
  return options.length === 1 ? (options[0] as Shape) : { kind: "either", options };
}
