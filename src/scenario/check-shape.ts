import type { z } from "zod/mini";
import { misplacedExpectations } from "./expect-place.js";
import { type Finding, pathText } from "./finding.js";
import { formAt } from "./format-lookup.js";
import type { Path } from "./located.js";
import { listed, quote } from "./quote.js";
import { headerNameSlip } from "./request-slips.js";
import type { Scenario } from "./scenario.generated.js";
import { keySchema, organizationSchema, scenarioSchema } from "./schema.js";
import { refSlip } from "./text-slips.js";
import { issuesMeant } from "./union-issues.js";
import { unknownField } from "./unknown-field.js";
import { wrongValue } from "./wrong-value.js";

type Issue = z.core.$ZodIssue;

/** After so many mistakes of shape the rest is not put into words. */
export const maximumShapeFindings = 500;

/**
 * Whether the value is a scenario by the shape of its fields; if not, every field that is not as the format says
 * (but no more than {@link maximumShapeFindings}).
 */
export function checkShape(value: unknown): { scenario: Scenario } | { findings: Finding[] } {
  const checked = scenarioSchema.safeParse(value);
  if (checked.success) return { scenario: checked.data as Scenario };
  return { findings: shapeFindings(checked.error.issues, value, []) };
}

/** What the schema has found wrong with the part of a scenario at a path, in words. */
export function shapeFindings(issues: readonly Issue[], scenario: unknown, at: Path): Finding[] {
  const findings: Finding[] = [];
  for (const { issue, path } of issuesOf(issues, scenario, at)) {
    findings.push(...(misplaced(path, scenario) ?? findingsOf(issue, path, scenario)));
    if (findings.length >= maximumShapeFindings) break;
  }
  return withoutMisspelt(findings);
}

// Of what cannot be expected of a step at all nobody needs to know how it is written.
function misplaced(path: Path, scenario: unknown): Finding[] | undefined {
  const [list, , field, name] = path;
  if (list !== "story" || field !== "expect" || name === undefined) return undefined;
  const step = path.slice(0, 2);
  const findings = misplacedExpectations((valueAt(scenario, step) ?? {}) as object, step);
  return findings.some((one) => one.path[3] === name) ? findings : undefined;
}

// A field that is only misspelt is not missing as well.
function withoutMisspelt(findings: readonly Finding[]): Finding[] {
  const meant = new Set(findings.map(({ meant }) => meant && pathText(meant)));
  return findings.filter(({ code, path }) => code !== "missing_field" || !meant.has(pathText(path)));
}

interface PathIssue {
  readonly issue: Issue;
  readonly path: Path;
}

// The schema does not look at an entry whose ref is wrong; we do, so that all problems come at once.
function issuesOf(issues: readonly Issue[], value: unknown, base: Path): PathIssue[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...(issue.path as (string | number)[])];
    const found = [{ issue, path }];
    if (issue.code === "invalid_union") {
      const meant = issuesMeant(issue);
      return meant === undefined ? found : issuesOf(meant, value, path);
    }
    if (issue.code !== "invalid_key") return found;
    // Only organizations and keys are called as the scenario likes.
    if (path[0] !== "organizations") return found;
    const entrySchema: z.ZodMiniType = path.length === 2 ? organizationSchema : keySchema;
    const entry = entrySchema.safeParse(valueAt(value, path));
    return entry.success ? found : [...found, ...issuesOf(entry.error.issues, value, path)];
  });
}

function findingsOf(issue: Issue, path: Path, root: unknown): Finding[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys
      .slice(0, maximumShapeFindings)
      .map((name) => unknownField(path, name, valueAt(root, path)));
  const name = String(path.at(-1) ?? "");
  if (issue.code === "invalid_key") {
    return [{ path, aim: "key", ...(path.at(-2) === "headers" ? headerNameSlip(name) : refSlip(name)) }];
  }
  const value = valueAt(root, path);
  if (path.length === 1 && name === "version") return [versionFinding(value)];
  const form = formAt(path) ?? {};
  if (value === undefined) return [missingField(path, name, form.enum?.map(String))];
  const label = typeof path.at(-1) === "number" ? `${path.at(-2)}[${name}]` : name;
  return [{ path, ...wrongValue(label, value, form) }];
}

/** What is said when `version` is not 1. */
export function versionFinding(value: unknown): Finding {
  if (value === undefined) {
    return {
      code: "missing_field",
      path: ["version"],
      message: "version is missing",
      hint: "begin the scenario with version: 1",
    };
  }
  const written = value === "1" ? "write 1 without quotes" : "write version: 1";
  return {
    code: "unsupported_version",
    path: ["version"],
    message: `this version of svc-sandbox reads version 1 of the format, not ${quote(value)}`,
    hint: written,
  };
}

function missingField(path: Path, name: string, choices: readonly string[] | undefined): Finding {
  const parent = path.at(-2);
  const where = typeof parent === "number" ? `${path.at(-3)}[${parent}]` : quote(parent);
  return {
    code: "missing_field",
    path,
    aim: "key",
    message: `${name} is missing in ${where}`,
    hint: choices === undefined ? `add ${name}` : `add ${name}: ${listed(choices, "or")}`,
  };
}

function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}
