import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import assumptionWords from "../../rules/assumptions.json" with { type: "json" };
import { type FaultKind, faultKindRow, faultKinds } from "../../rules/fault-effects.js";
import type { Describe } from "../../schema/json-schema.js";
import type { Shape } from "../../schema/shape.js";
import { shapeAt } from "../../schema/shape-fields.js";
import { type ControlBodyName, controlBodies } from "./control-bodies.js";
import descriptions from "./descriptions.json" with { type: "json" };
import { requestQuery } from "./inputs.js";
import { scenarioSchema } from "./schema.js";

// What each field means, for editors and for the documents of the control plane.

/** Texts by the path of their field: `organizations.<ref>.type`. */
type Texts = Readonly<Record<string, string>>;

/** Describes a kind of fault in a sentence: `Resets the connection.` */
export function faultKindSentence(kind: FaultKind): string {
  const { causeClause, fieldDescription } = faultKindRow(`fault.${kind}`);
  if (fieldDescription !== undefined) return fieldDescription;
  return `${causeClause[0]?.toUpperCase()}${causeClause.slice(1)}.`;
}

/** The texts of `descriptions.json`, and those that the tables of faults and assumptions have. */
function scenarioTexts(): Texts {
  const texts: Record<string, string> = { ...descriptions.scenario };
  for (const kind of faultKinds) texts[`faults.<item>.then.${kind}`] = faultKindSentence(kind);
  for (const [name, { minimal }] of Object.entries(assumptionTable)) {
    const { meaning } = assumptionWords[name as keyof Assumptions] ?? {}; // the names of its rows
    if (meaning === undefined) throw new Error(`assumptions.json has no words for ${name}`);
    texts[`assumptions.${name}`] = `${meaning} Default: ${JSON.stringify(minimal)}.`;
  }
  return texts;
}

const textsOfScenario = scenarioTexts();
const textsOfBodies: Readonly<Record<string, Texts>> = descriptions.control;

/** The text of each shape. A shape that several fields have, such as the limits of a key, has the text of the first of them. */
function textsByShape(): ReadonlyMap<Shape, string> {
  const byShape = new Map<Shape, string>();
  addTexts(byShape, scenarioSchema, textsOfScenario);
  for (const [name, texts] of Object.entries(textsOfBodies)) {
    addTexts(byShape, controlBodies[name as ControlBodyName], texts);
  }
  addTexts(byShape, requestQuery, descriptions.queries.requests);
  return byShape;
}

/** Adds the texts of the fields in a shape. */
function addTexts(byShape: Map<Shape, string>, root: Shape, texts: Texts): void {
  for (const [path, text] of Object.entries(texts)) {
    const shape = shapeAt(root, path === "" ? [] : path.split("."));
    if (shape === undefined) throw new Error(`there is no field ${path} to describe`);
    if (!byShape.has(shape)) byShape.set(shape, text);
  }
}

const shapeTexts = textsByShape();

/** The text of a shape, whichever field has it: the shape's own description, or that of `descriptions.json`. */
export function shapeDescription(shape: Shape): string | undefined {
  return shape.description ?? shapeTexts.get(shape);
}

export const describeScenarioField: Describe = describeBy(textsOfScenario);

export function describeBodyField(name: ControlBodyName): Describe {
  return describeBy(textsOfBodies[name] ?? {});
}

/** Describes a field by the text of its path. A field without one has the text of its shape, which may be from another field. */
function describeBy(texts: Texts): Describe {
  return (shape, path) => {
    // The path of a text has no options: `faults.<item>.then.latency.min` is that of `…latency.<option>.min`.
    const pathOfText = path.join(".").replaceAll(/\.<option>(?=\.)/g, "");
    return texts[pathOfText] ?? shapeDescription(shape);
  };
}
