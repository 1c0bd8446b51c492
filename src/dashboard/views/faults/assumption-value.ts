import type { Shown } from "../../control/responses.js";

/** The value of an assumption that somebody typed, by its schema. What is not a number stays text, which the server rejects. */
export function assumptionIn(text: string, schema: Shown<"AssumptionRow">["schema"]): unknown {
  const number = Number(text);
  if ((schema.type === "integer" || schema.type === "number") && text.trim() !== "")
    return Number.isNaN(number) ? text.trim() : number;
  if (schema.type === "array") return text.split(/[\s,]+/).filter(Boolean);
  return schema.anyOf !== undefined && ["", "null"].includes(text.trim()) ? null : text.trim();
}
