import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import { openApiDocument } from "../../src/api/openapi.js";
import { headerOf } from "../../src/check/answer.js";
import { mePath, type Seen } from "./send.js";

/** The parts of the description that tests look at. */
export interface Described {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Record<
    string,
    Record<string, { readonly responses: Record<string, { headers?: object }> }>
  >;
}

export const description = openApiDocument() as unknown as Described;

const responses = description.paths[mePath]?.get?.responses ?? {};
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(description, "openapi");
const validators = new Map<string, ValidateFunction>();

function validatorOf(status: string): ValidateFunction {
  const pointer = `/paths/${mePath.replaceAll("/", "~1")}/get/responses/${status}/content/application~1json/schema`;
  const validator = validators.get(status) ?? ajv.compile({ $ref: `openapi#${pointer}` });
  validators.set(status, validator);
  return validator;
}

/** Checks an answer with a body against what the description says of its status. */
export function expectDescribed(seen: Seen): void {
  const status = String(seen.status) in responses ? String(seen.status) : "default";
  const validate = validatorOf(status);
  const valid = validate(JSON.parse(seen.body));
  expect(validate.errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  if (responses[status]?.headers !== undefined) expect(headerOf(seen, "x-request-id")).not.toBeUndefined();
}
