import { permissions } from "../../domain/attestation.js";
import type { JsonSchema } from "../endpoint.js";
import { type JsonBody, utf8Length } from "../messages.js";

/** What every description of the preview begins with. */
export const guess =
  "Preview: announced, not released. Its shape is this project's guess, made from public consent and credential APIs.";

export const time = { type: "string", format: "date-time" };
export const timeOrNull = { type: ["string", "null"], format: "date-time" };
export const permissionNames = { type: "string", enum: permissions };

/** An object of which each member is required and no other is allowed. */
export function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", required: Object.keys(properties), additionalProperties: false, properties };
}

/** A value as the body of an answer. */
export function jsonOf(value: unknown): JsonBody {
  const text = JSON.stringify(value);
  return { text, bytes: utf8Length(text) };
}
