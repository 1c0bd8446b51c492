import type { z } from "zod/mini";
import { SandboxError } from "../domain/sandbox-error.js";
import {
  type ControlBody,
  type ControlBodyName,
  controlBodies,
  controlBodySchema,
} from "./control-bodies.js";
import type { FieldForm } from "./format-lookup.js";
import { nearest } from "./nearest.js";
import { listed, quote } from "./quote.js";
import { wrongValue } from "./wrong-value.js";

/**
 * The body, if it is one of that name; throws `validation_failed` with what is wrong with each field in
 * `details.fields`, by its path.
 */
export function checkBody<Name extends ControlBodyName>(name: Name, value: unknown): ControlBody<Name> {
  const checked = controlBodies[name].safeParse(value);
  if (checked.success) return checked.data as ControlBody<Name>;
  const form = controlBodySchema(name) as FieldForm;
  const problems = checked.error.issues.flatMap((issue) => problemsOf(issue, value, form));
  const fields = Object.fromEntries(problems);
  const [first] = problems;
  throw new SandboxError(
    "validation_failed",
    `The body is not valid: ${first?.[1] ?? "it is not what this call takes"}${problems.length > 1 ? ` (and ${problems.length - 1} more)` : ""}.`,
    { fields },
  );
}

type Problem = readonly [path: string, problem: string];

function problemsOf(issue: z.core.$ZodIssue, value: unknown, form: FieldForm): Problem[] {
  const path = issue.path.map(String);
  const here = formAt(form, path);
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(here?.properties ?? {});
    return issue.keys.map((key) => [[...path, key].join("."), unknownField(key, known)]);
  }
  const name = path.at(-1) ?? "body";
  const found = valueAt(value, path);
  if (found === undefined && path.length > 0) return [[path.join("."), `${name} is missing`]];
  const { message, hint } = wrongValue(name, found, here ?? {});
  return [[path.join(".") || "body", hint === undefined ? message : `${message}: ${hint}`]];
}

function unknownField(name: string, known: readonly string[]): string {
  const meant = nearest(name.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase(), known);
  const hint =
    meant === undefined
      ? known.length === 0
        ? "no fields are known here"
        : `known: ${listed(known, "and")}`
      : `did you mean ${quote(meant)}?`;
  return `unknown field ${quote(name)}: ${hint}`;
}

function formAt(form: FieldForm, path: readonly string[]): FieldForm | undefined {
  let current: FieldForm | undefined = form;
  for (const step of path) current = current?.properties?.[step] ?? current?.items;
  return current?.anyOf?.[0] ?? current;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (current, step) =>
      typeof current === "object" && current !== null && Object.hasOwn(current, step)
        ? (current as Record<string, unknown>)[step]
        : undefined,
    value,
  );
}
