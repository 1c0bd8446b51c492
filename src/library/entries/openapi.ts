import { documentReader } from "../../openapi/read-api.js";
import { requireFields } from "../../rules/schema/check.js";
import type { OpenApiDocument } from "../create-sandbox.js";

/**
 * Returns an OpenAPI 3.0, 3.1 or 3.2 document, a value or a text in JSON or YAML, for the option `openapi`; without one, the
 * reader of a scenario's own document.
 */
export function readOpenApi(document?: string | object): OpenApiDocument {
  return document === undefined ? { read: documentReader } : { read: documentReader, text: textOf(document) };
}

function textOf(document: string | object): string {
  const text = typeof document === "string" ? document : jsonOf(document);
  requireFields("read the document", {
    openapi: text === undefined ? "must be a text, or a mapping without loops" : undefined,
  });
  return text as string;
}

function jsonOf(document: object): string | undefined {
  try {
    return JSON.stringify(document);
  } catch {
    return undefined;
  }
}
