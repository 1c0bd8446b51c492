import { SandboxError } from "../rules/errors.js";
import type { Members } from "../rules/schema/problem.js";
import { isMapping } from "../rules/schema/shape.js";
import { nearest, quote } from "../rules/schema/words.js";
import { ScenarioError, type ScenarioProblemCode } from "./problems.js";
import type { AddProblem, ReadScenario, ScenarioText } from "./scenario-text.js";

export interface ExtendsOptions {
  readonly find: (name: string, from: string | undefined) => ScenarioText | undefined;
  readonly knownNames: readonly string[];
}

/** Merges a scenario with the ones it extends, without their stories; `undefined` if one cannot be read. */
export function resolveExtends(
  { scenario: child, file }: ScenarioText,
  options: ExtendsOptions,
  addProblem: AddProblem,
  chain: readonly string[] = file === undefined ? [] : [file],
): ReadScenario | undefined {
  const { extends: name, ...fields } = child?.fields ?? {};
  if (child === undefined || name === undefined) return child;
  const { place } = child.find(["extends"], "value");
  const fail: Fail = (code, message, hint) => {
    addProblem({ code, field: ["extends"], place, message, hint });
    return undefined;
  };
  if (typeof name !== "string" || name === "") {
    const hint = "name a bundled scenario, or a file relative to this one";
    return fail("wrong_type", `extends is the name of a scenario, not ${quote(name)}`, hint);
  }
  const extended = findExtended(name, file, options, fail);
  if (extended === undefined) return undefined;
  const parentFile = extended.file ?? name;
  if (chain.includes(parentFile)) {
    const loop = [...chain.slice(chain.indexOf(parentFile)), parentFile].join(" → ");
    return fail("extends_loop", `the scenarios extend each other: ${loop}`, "remove one of these extends");
  }
  if (!isScenario(extended)) return failForOther(name, extended, fail);
  for (const problem of extended.problems) addProblem(problem);
  const parent = resolveExtends(extended, options, addProblem, [...chain, parentFile]);
  return parent && inherit(child, fields, parent);
}

/** Adds a problem of `extends`. */
type Fail = (code: ScenarioProblemCode, message: string, hint: string) => undefined;

function isScenario({ scenario, startsLikeScenario }: ScenarioText): boolean {
  return scenario === undefined ? startsLikeScenario : scenario.fields.version === 1;
}

/** Shows nothing of the other file: it may be any file of this machine. */
function failForOther(name: string, { scenario }: ScenarioText, fail: Fail): undefined {
  const version = scenario?.fields.version;
  const hint = "each file starts with version: 1";
  if (typeof version !== "number") return fail("extends_failed", `${quote(name)} is not a scenario`, hint);
  const message = `the scenario ${quote(name)} has version ${version} of the format, not 1`;
  return fail("unsupported_version", message, hint);
}

function inherit(child: ReadScenario, fields: Members, parent: ReadScenario): ReadScenario {
  // Each file has its own version, and a story tests only its own scenario.
  const { version: _version, story: _, ...inherited } = parent.fields;
  return {
    fields: { ...(mergedByName(inherited, fields) as Members), ...mergedEndpoints(inherited, fields) },
    find(path, pointAt) {
      const [ofChild, ofParent] = [child.find(path, pointAt), parent.find(path, pointAt)];
      if (ofParent.depth <= ofChild.depth || ofParent.place === undefined) return ofChild;
      return { ...ofParent, layer: ofParent.layer + 1 };
    },
  };
}

/** Merges objects by name; any other value of the second wins. Changes neither. */
function mergedByName(under: unknown, over: unknown): unknown {
  if (!isMapping(under) || !isMapping(over)) return over;
  const merged: Record<string, unknown> = { ...under };
  for (const [name, member] of Object.entries(over))
    merged[name] = Object.hasOwn(under, name) ? mergedByName(under[name], member) : member;
  return merged;
}

/** The endpoints of a scenario with those that it extends: by name and field; `null` removes one, or its body. */
function mergedEndpoints({ endpoints: inherited }: Members, { endpoints: ofChild }: Members) {
  if (!isMapping(inherited) || !isMapping(ofChild)) return {};
  const endpoints = { ...inherited };
  for (const [name, fields] of Object.entries(ofChild)) {
    const under = Object.hasOwn(endpoints, name) ? endpoints[name] : null;
    if (fields === null && under !== null) delete endpoints[name];
    else endpoints[name] = isMapping(under) && isMapping(fields) ? { ...under, ...fields } : fields;
    if (isMapping(under) && isMapping(fields) && fields.body === null && Object.hasOwn(under, "body"))
      delete (endpoints[name] as Record<string, unknown>).body;
  }
  return { endpoints };
}

function findExtended(
  name: string,
  file: string | undefined,
  options: ExtendsOptions,
  fail: Fail,
): ScenarioText | undefined {
  try {
    const near = nearest(name, options.knownNames);
    const hint = near
      ? `did you mean ${near}?`
      : `name one of ${options.knownNames.join(", ")}, or a file if this scenario is in a file`;
    const extended = options.find(name, file);
    return extended ?? fail("extends_not_found", `there is no scenario ${quote(name)}`, hint);
  } catch (error) {
    if (error instanceof ScenarioError) throw error;
    // Our loaders' messages are sentences; others need a sentence around them.
    const reason = error instanceof Error ? error.message : String(error);
    const message =
      error instanceof SandboxError ? reason : `the scenario ${quote(name)} could not be read: ${reason}`;
    return fail("extends_failed", message, "name a bundled scenario, or a file relative to this one");
  }
}
