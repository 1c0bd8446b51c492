import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import { openApiDocument } from "../../src/api/openapi.js";
import { headerOf } from "../../src/check/answer.js";
import type { Seen } from "./send.js";

interface Operation {
  readonly responses: Record<string, { readonly headers?: Record<string, object> }>;
}

/** The description with the announced endpoints. */
export const previewDescription = openApiDocument({ preview: true }) as unknown as {
  readonly paths: Record<string, Record<string, Operation & Record<string, unknown>>>;
};

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(previewDescription, "preview");
const validators = new Map<string, ValidateFunction>();

/** Checks an answer at a path of the preview: its header, and its body against what the description says of it. */
export function expectPreview(method: string, path: string, seen: Seen): void {
  expect(headerOf(seen, "x-sandbox-preview")).toBe("true");
  const template = templateOf(path);
  const operation = previewDescription.paths[template]?.[method === "HEAD" ? "get" : method.toLowerCase()];
  const described = operation !== undefined && String(seen.status) in operation.responses;
  if (seen.status < 300) {
    expect(described).toBe(true);
    expect(headerOf(seen, "x-request-id")).toBeTruthy();
  }
  if (method === "HEAD") {
    expect(seen.body).toBe("");
    return;
  }
  const pointer = described
    ? `/paths/${template.replaceAll("/", "~1")}/${method.toLowerCase()}/responses/${seen.status}/content/application~1json/schema`
    : "/components/schemas/Error";
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `preview#${encodeURI(pointer)}` });
  validators.set(pointer, validate);
  validate(JSON.parse(seen.body));
  expect(validate.errors ?? []).toEqual([]);
}

function templateOf(path: string): string {
  const [asked = ""] = path.split("?");
  return asked.replace(/(consent-requests|attestations)\/[^/]+/, "$1/{id}");
}
