import { outcomes } from "../domain/outcomes.js";
import { actionNames, stepKinds } from "../domain/steps.js";
import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import { quote } from "./quote.js";

const ofRequests = ["status", "code", "path", "headers", "body"];
const ofActions = ["error"];

/** What is wrong when a step of a story expects what cannot be expected of such a step. */
export function misplacedExpectations(
  { expect, ...step }: { readonly expect?: object },
  path: Path,
): Finding[] {
  if (expect === undefined) return [];
  const thing = stepKinds.find((name) => Object.hasOwn(step, name)) ?? "say";
  const allowed = allowedOf(thing);
  const names = Object.keys(expect);
  const wrong = names.find((name) => !allowed.includes(name));
  if (wrong === undefined && names.length > 0) return [];
  if (wrong === undefined) {
    const hint = allowed.length === 0 ? "remove it" : `give it ${allowed.join(", ")}, or remove it`;
    return [{ code: "missing_field", path: [...path, "expect"], message: "expect says nothing", hint }];
  }
  return [
    {
      code: "step_contradiction",
      path: [...path, "expect", wrong],
      aim: "key",
      message: `${quote(wrong)} cannot be expected of ${quote(thing)}`,
      hint: hintFor(thing, wrong, (expect as Readonly<Record<string, unknown>>)[wrong]),
    },
  ];
}

function allowedOf(thing: string): readonly string[] {
  if (thing === "request") return ofRequests;
  return (actionNames as readonly string[]).includes(thing) ? ofActions : [];
}

function hintFor(thing: string, wrong: string, value: unknown): string {
  if (thing === "request" && wrong === "error") return `error is for actions; write code: ${codeIn(value)}`;
  const allowed = allowedOf(thing);
  return allowed.length === 0
    ? `nothing can be expected of ${quote(thing)}: remove it, or give it to a request`
    : `what can be expected of ${quote(thing)}: ${allowed.join(", ")}`;
}

// Some write the answer's body: error: { code: unauthorized }.
function codeIn(value: unknown): string {
  const code = typeof value === "object" && value !== null && "code" in value ? value.code : value;
  return outcomes.some((row) => row.code !== null && row.code === code) ? String(code) : "unauthorized";
}
