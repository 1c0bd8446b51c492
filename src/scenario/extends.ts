import { SandboxError } from "../rules/errors.js";
import { nearest, quote } from "../schema/words.js";
import { mergeWithParent } from "./merge-scenarios.js";
import type { FieldProblem } from "./problems.js";
import { ScenarioError } from "./scenario-error.js";
import type { ReadScenario, WrittenScenario } from "./written-scenario.js";

/** The scenarios that another one can extend. */
export interface Extendable {
  /** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. */
  readonly findScenario: (name: string, from: string | undefined) => WrittenScenario | undefined;
  readonly knownNames: readonly string[];
}

/** A scenario with the ones that it extends. `problems` has those of the extended ones, and why one cannot be extended. */
type Merged =
  | { readonly kind: "merged"; readonly scenario: ReadScenario; readonly problems: readonly FieldProblem[] }
  | { readonly kind: "not_merged"; readonly problems: readonly FieldProblem[] };

/** A problem of the field `extends`, before it has its field and its place. */
type ExtendsProblem = Pick<FieldProblem, "code" | "message" | "hint">;

/** The scenario that another one extends, or why none can be extended. */
type Extended =
  | { readonly kind: "extended"; readonly written: WrittenScenario; readonly link: ChainLink }
  | { readonly kind: "not_extended"; readonly problem: ExtendsProblem };

/** A scenario in the chain that extends each other: a file, or a value by the name that found it. A file `onboarding` is not the bundled one. */
interface ChainLink {
  readonly kind: "file" | "value";
  readonly name: string;
}

const nameHint = "name a bundled scenario, or a file relative to this one";

/** Merges a scenario with the ones that it extends, without their stories. */
export function resolveExtends(written: WrittenScenario, extendable: Extendable): Merged {
  const { file } = written;
  // No name finds a value that extends another scenario first.
  const chain: ChainLink[] = file === undefined ? [] : [{ kind: "file", name: file }];
  return resolveInChain(written, extendable, chain);
}

/** `chain` has the scenarios that led to this one, and it last. */
function resolveInChain(
  written: WrittenScenario,
  extendable: Extendable,
  chain: readonly ChainLink[],
): Merged {
  const child = written.scenario;
  if (child === undefined) return { kind: "not_merged", problems: [] };
  const { extends: name, ...ownFields } = child.fields;
  if (name === undefined) return { kind: "merged", scenario: child, problems: [] };

  const extended = findExtended(name, written.file, extendable, chain);
  if (extended.kind === "not_extended") {
    // Each scenario of the chain has a field `extends`: the place shows whose it is.
    const { place } = child.locate(["extends"], "value");
    return { kind: "not_merged", problems: [{ ...extended.problem, field: ["extends"], place }] };
  }

  const parent = resolveInChain(extended.written, extendable, [...chain, extended.link]);
  const problems = [...extended.written.problems, ...parent.problems];
  if (parent.kind === "not_merged") return { kind: "not_merged", problems };
  return { kind: "merged", scenario: mergeWithParent(child, ownFields, parent.scenario), problems };
}

function findExtended(
  name: unknown,
  from: string | undefined,
  extendable: Extendable,
  chain: readonly ChainLink[],
): Extended {
  if (typeof name !== "string" || name === "") {
    const message = `extends is the name of a scenario, not ${quote(name)}`;
    return notExtended({ code: "wrong_type", message, hint: nameHint });
  }

  let written: WrittenScenario | undefined;
  try {
    written = extendable.findScenario(name, from);
  } catch (error) {
    if (error instanceof ScenarioError) throw error;
    return notExtended({ code: "extends_failed", message: whyNotLoaded(name, error), hint: nameHint });
  }
  if (written === undefined) return notExtended(notFoundProblem(name, extendable.knownNames));

  const link = linkOf(written, name);
  const start = chain.findIndex((other) => other.kind === link.kind && other.name === link.name);
  if (start !== -1) {
    const loop = [...chain.slice(start), link].map((one) => one.name).join(" → ");
    return notExtended({
      code: "extends_loop",
      message: `the scenarios extend each other: ${loop}`,
      hint: "remove one of these extends",
    });
  }
  if (!isScenario(written)) return notExtended(noScenarioProblem(name, written));
  return { kind: "extended", written, link };
}

function linkOf({ file }: WrittenScenario, name: string): ChainLink {
  if (file === undefined) return { kind: "value", name };
  return { kind: "file", name: file };
}

function notExtended(problem: ExtendsProblem): Extended {
  return { kind: "not_extended", problem };
}

function whyNotLoaded(name: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // The messages of our own loaders name the scenario.
  if (error instanceof SandboxError) return message;
  return `the scenario ${quote(name)} could not be read: ${message}`;
}

function notFoundProblem(name: string, knownNames: readonly string[]): ExtendsProblem {
  const near = nearest(name, knownNames);
  let hint = `name one of ${knownNames.join(", ")}, or a file if this scenario is in a file`;
  if (near !== undefined) hint = `did you mean ${near}?`;
  return { code: "extends_not_found", message: `there is no scenario ${quote(name)}`, hint };
}

function isScenario(written: WrittenScenario): boolean {
  const { scenario } = written;
  if (scenario === undefined) return written.startsLikeScenario;
  return scenario.fields.version === 1;
}

/** Shows nothing of the other file: it may be any file of this machine. */
function noScenarioProblem(name: string, written: WrittenScenario): ExtendsProblem {
  const hint = "each file starts with version: 1";
  const version = written.scenario?.fields.version;
  if (typeof version !== "number") {
    return { code: "extends_failed", message: `${quote(name)} is not a scenario`, hint };
  }
  const message = `the scenario ${quote(name)} has version ${version} of the format, not 1`;
  return { code: "unsupported_version", message, hint };
}
