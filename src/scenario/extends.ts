import { SandboxError } from "../rules/errors.js";
import { nearest, quote } from "../schema/words.js";
import { mergeWithParent } from "./merge-scenarios.js";
import type { FieldProblem } from "./problems.js";
import { ScenarioError } from "./scenario-error.js";
import type { PlacedScenario, WrittenScenario } from "./written-scenario.js";

// A scenario is merged with its parent, which is the scenario that it extends, the parent with its own, and so on: they are a chain.
// A name may lead to any file of this machine. A file that is no scenario is not shown, neither its lines nor its problems: only a
// number as its version.

/** Where the scenario that another one extends, its parent, is looked for. */
export interface ParentLookup {
  /** Finds the scenario that `extends` names in the file `from`; `undefined` if none exists. */
  readonly findParent: (name: string, from: string | undefined) => WrittenScenario | undefined;
  readonly knownNames: readonly string[];
}

/** A scenario merged with the ones that it extends. `problems` are those of the extended ones, or why one cannot be extended. */
type MergeResult =
  | { readonly kind: "merged"; readonly scenario: PlacedScenario; readonly problems: readonly FieldProblem[] }
  | { readonly kind: "not_merged"; readonly problems: readonly FieldProblem[] };

/** A problem of the field `extends`, before it has its field and its place. */
type ExtendsProblem = Pick<FieldProblem, "code" | "message" | "hint">;

/** The parent of a scenario, or why it has none that can be extended. */
type ParentSearch =
  | { readonly kind: "found"; readonly written: WrittenScenario; readonly link: ChainLink }
  | { readonly kind: "not_extendable"; readonly problem: ExtendsProblem };

/** A scenario in a chain. Its kind tells the file `onboarding` from the bundled `onboarding`, which the file can extend. */
interface ChainLink {
  readonly kind: "file" | "value";
  /** The name of the file; of a value, the name that found it. */
  readonly name: string;
}

const nameHint = "name a bundled scenario, or a file relative to this one";

/** Merges a scenario with the ones that it extends, without their stories. */
export function resolveExtends(written: WrittenScenario, parents: ParentLookup): MergeResult {
  const { file } = written;
  // A value has no name yet, so a chain that starts with a value cannot come back to its start.
  const chain: ChainLink[] = file === undefined ? [] : [{ kind: "file", name: file }];
  return resolveInChain(written, parents, chain);
}

/** Merges the last scenario of a chain. */
function resolveInChain(
  written: WrittenScenario,
  parents: ParentLookup,
  chain: readonly ChainLink[],
): MergeResult {
  const child = written.scenario;
  if (child === undefined) return { kind: "not_merged", problems: [] };
  const { extends: name, ...ownFields } = child.fields;
  if (name === undefined) return { kind: "merged", scenario: child, problems: [] };

  const search = searchParent(name, written.file, parents, chain);
  if (search.kind === "not_extendable") {
    // Each scenario of the chain has a field `extends`: the place shows whose it is.
    const { place } = child.locate(["extends"], "value");
    return { kind: "not_merged", problems: [{ ...search.problem, field: ["extends"], place }] };
  }

  const parent = resolveInChain(search.written, parents, [...chain, search.link]);
  const problems = [...search.written.problems, ...parent.problems];
  if (parent.kind === "not_merged") return { kind: "not_merged", problems };
  return { kind: "merged", scenario: mergeWithParent(child, ownFields, parent.scenario), problems };
}

function searchParent(
  name: unknown,
  from: string | undefined,
  parents: ParentLookup,
  chain: readonly ChainLink[],
): ParentSearch {
  if (typeof name !== "string" || name === "") {
    const message = `extends is the name of a scenario, not ${quote(name)}`;
    return notExtendable({ code: "wrong_type", message, hint: nameHint });
  }

  let written: WrittenScenario | undefined;
  try {
    written = parents.findParent(name, from);
  } catch (error) {
    // The caller's function has checked the scenario that it found: the problems have their places already.
    if (error instanceof ScenarioError) throw error;
    return notExtendable({ code: "extends_failed", message: whyNotLoaded(name, error), hint: nameHint });
  }
  if (written === undefined) return notExtendable(notFoundProblem(name, parents.knownNames));

  const link = linkOf(written, name);
  const loopStart = chain.findIndex((earlier) => earlier.kind === link.kind && earlier.name === link.name);
  if (loopStart !== -1) return notExtendable(loopProblem([...chain.slice(loopStart), link]));
  if (!isScenario(written)) return notExtendable(noScenarioProblem(name, written));
  return { kind: "found", written, link };
}

function linkOf({ file }: WrittenScenario, name: string): ChainLink {
  if (file === undefined) return { kind: "value", name };
  return { kind: "file", name: file };
}

function notExtendable(problem: ExtendsProblem): ParentSearch {
  return { kind: "not_extendable", problem };
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

function loopProblem(loop: readonly ChainLink[]): ExtendsProblem {
  const names = loop.map((link) => link.name).join(" → ");
  return {
    code: "extends_loop",
    message: `the scenarios extend each other: ${names}`,
    hint: "remove one of these extends",
  };
}

/** Whether a file is meant as a scenario. */
function isScenario({ scenario, startsLikeScenario }: WrittenScenario): boolean {
  if (scenario === undefined) return startsLikeScenario;
  return scenario.fields.version === 1;
}

function noScenarioProblem(name: string, written: WrittenScenario): ExtendsProblem {
  const hint = "each file starts with version: 1";
  const version = written.scenario?.fields.version;
  if (typeof version !== "number") {
    return { code: "extends_failed", message: `${quote(name)} is not a scenario`, hint };
  }
  const message = `the scenario ${quote(name)} has version ${version} of the format, not 1`;
  return { code: "unsupported_version", message, hint };
}
