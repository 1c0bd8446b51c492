import { me } from "../../api/endpoints/me.js";
import { errorShape } from "../../api/openapi.js";
import { type Shape, shapeOfField } from "../../schema/shape.js";
import { isMapping } from "../../schema/type-tag.js";
import { shownText } from "../response/describe.js";
import type { RedactedResponse } from "../response/redacted-response.js";

/** So many undocumented names of a response are noted at most. */
const mostNames = 100;

/** Returns the names that the contract does not have: members, and headers that announce an endpoint's end. */
export function undocumentedNames(response: RedactedResponse): string[] {
  const shape = response.status < 400 ? me.responseShape : errorShape;
  const names = unknownMembers(shape, response.json).slice(0, mostNames);
  for (const [name] of response.headers) {
    const nameInText = shownText(name);
    if (/^(?:deprecation|sunset)$/i.test(nameInText)) names.push(nameInText);
  }
  return names;
}

/** Returns the members of a value that its shape does not have, by their JSON paths: `$.data.plan`. */
function unknownMembers(shape: Shape, value: unknown, parent = "$"): string[] {
  if (shape.kind !== "mapping" || !isMapping(value)) return [];
  const unknownNames: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const at = `${parent}.${name}`;
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    // Of an unknown member, only its own name: the names in it may be data.
    if (field === undefined) unknownNames.push(shownText(at));
    else unknownNames.push(...unknownMembers(shapeOfField(field), member, at));
  }
  return unknownNames;
}
