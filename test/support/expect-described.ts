import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import { openApiDocument } from "../../src/api/openapi.js";
import { headerOf } from "../../src/compare/response.js";
import { mePath, type Seen } from "./send.js";

/** Expects values to be what parts of a description say; a part is told by the names that lead to it. */
export function expectPartsOf(document: object): (value: unknown, ...names: readonly string[]) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "described");
  const compiled = new Map<string, ValidateFunction>();
  return (value, ...names) => {
    const steps = names.map((name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1")));
    const $ref = `described#/${steps.join("/")}`;
    const validate = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, validate);
    validate(value);
    expect(validate.errors ?? []).toEqual([]);
  };
}

export interface Described {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Record<string, Record<string, { responses: Record<string, { headers?: object }> }>>;
}

export const description = openApiDocument() as unknown as Described;

const responses = description.paths[mePath]?.get?.responses ?? {};
const expectPart = expectPartsOf(description);

/** Checks a response with a body against what the description says of its status. */
export function expectDescribed(seen: Seen): void {
  const status = String(seen.status) in responses ? String(seen.status) : "default";
  const content = ["paths", mePath, "get", "responses", status, "content", "application/json", "schema"];
  expectPart(JSON.parse(seen.body), ...content);
  if (responses[status]?.headers !== undefined) expect(headerOf(seen, "x-request-id")).not.toBeUndefined();
}
