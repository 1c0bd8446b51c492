import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./pages.js";

/** The JSON Schema of a scenario, as the package has it. */
export const scenarioSchema = JSON.parse(readFileSync(join(root, "dist/scenario.schema.json"), "utf8"));

/** The names of all members that a JSON Schema describes, those of `skipped` members left out. */
export function membersIn(schema: unknown, skipped: readonly string[] = []): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([word, value]) => {
    if (word !== "properties") return membersIn(value, skipped);
    const members = Object.entries(value as object).filter(([name]) => !skipped.includes(name));
    return members.flatMap(([name, member]) => [name, ...membersIn(member, skipped)]);
  });
}
