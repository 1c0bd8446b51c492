import type { z } from "zod/mini";
import { SandboxError } from "../domain/errors.js";
import { redactKeys } from "../domain/redact.js";
import {
  type ControlBody,
  type ControlBodyName,
  controlBodies,
  controlBodySchema,
} from "./control-bodies.js";
import { type FieldForm, propertiesOf } from "./format-lookup.js";
import { nearest } from "./nearest.js";
import { listed, quote } from "./quote.js";
import { issuesMeant } from "./union-issues.js";
import { wrongValue } from "./wrong-value.js";

/**
 * The body, if it is one of that name; throws `validation_failed` with what is wrong with each field in
 * `details.fields`, by its path.
 */
export function checkBody<Name extends ControlBodyName>(name: Name, value: unknown): ControlBody<Name> {
  const checked = controlBodies[name].safeParse(value);
  const form = controlBodySchema(name) as FieldForm;
  const problems = checked.success
    ? keysIn(value)
    : withoutMisspelt(checked.error.issues.flatMap((issue) => problemsOf(issue, value, form))).map(redacted);
  if (checked.success && problems.length === 0) return checked.data as ControlBody<Name>;
  const [first] = problems;
  throw new SandboxError(
    "validation_failed",
    `The body is not valid: ${first?.problem ?? "it is not what this call takes"}${problems.length > 1 ? ` (and ${problems.length - 1} more)` : ""}.`,
    { fields: Object.fromEntries(problems.map(({ path, problem }) => [path, problem])) },
  );
}

interface Problem {
  readonly path: string;
  readonly problem: string;
  /** The path of the field that was probably meant. */
  readonly meant?: string | undefined;
}

function redacted({ path, problem }: Problem): Problem {
  return { path: redactKeys(path), problem: redactKeys(problem) };
}

// A field that is only misspelt is not missing as well.
function withoutMisspelt(problems: readonly Problem[]): Problem[] {
  const meant = new Set(problems.map((one) => one.meant));
  return problems.filter(({ path }) => !meant.has(path));
}

function problemsOf(issue: z.core.$ZodIssue, value: unknown, form: FieldForm): Problem[] {
  if (issue.code === "invalid_union") {
    const meant = issuesMeant(issue);
    const inside = meant?.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
    if (inside !== undefined) return inside.flatMap((one) => problemsOf(one, value, form));
  }
  const path = issue.path.map(String);
  const whole = formAt(form, path);
  const here = whole?.anyOf?.[0] ?? whole;
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(propertiesOf(whole));
    return issue.keys.map((key) => unknownField(path, key, known));
  }
  const name = path.at(-1) ?? "body";
  const found = valueAt(value, path);
  if (found === undefined && path.length > 0) {
    return [{ path: path.join("."), problem: `${name} is missing` }];
  }
  return [{ path: path.join(".") || "body", problem: slip(name, found, here ?? {}) }];
}

function slip(name: string, found: unknown, form: FieldForm): string {
  const { message, hint } = wrongValue(name, found, form);
  return hint === undefined ? message : `${message}: ${hint}`;
}

function unknownField(parent: readonly string[], name: string, known: readonly string[]): Problem {
  const path = [...parent, name].join(".");
  const meant = nearest(name.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase(), known);
  const problem = `unknown field ${quote(name)}: `;
  if (meant !== undefined) {
    return {
      path,
      problem: `${problem}did you mean ${quote(meant)}?`,
      meant: [...parent, meant].join("."),
    };
  }
  const hint = known.length === 0 ? "no fields are known here" : `known: ${listed(known, "and")}`;
  return { path, problem: problem + hint };
}

/** Where a body holds something that looks like a key: names and codes are shown again, and keys never are (R46). */
function keysIn(value: unknown, path: readonly string[] = []): Problem[] {
  if (typeof value === "string") {
    const problem = `${path.at(-1) ?? "body"} must not hold an API key`;
    return redactKeys(value) === value ? [] : [{ path: path.join(".") || "body", problem }];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .filter(([name]) => !isScenario(path, name))
    .flatMap(([name, member]) => keysIn(member, [...path, name]));
}

// A scenario may pin its keys; it has checks of its own.
function isScenario(path: readonly string[], name: string): boolean {
  return path.length === 0 && name === "scenario";
}

function formAt(form: FieldForm, path: readonly string[]): FieldForm | undefined {
  let current: FieldForm | undefined = form;
  for (const step of path) {
    const fields = propertiesOf(current);
    current = Object.hasOwn(fields, step) ? fields[step] : current?.items;
  }
  return current;
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
