import { SandboxError } from "../domain/errors.js";
import { versionFinding } from "./check-shape.js";
import type { Finding } from "./finding.js";
import { type Located, type LocatedMapping, mergeLocated } from "./located.js";
import { nearest } from "./nearest.js";
import { quote } from "./quote.js";
import { ScenarioError } from "./scenario-error.js";

/** A scenario that another one extends. */
export interface FoundScenario {
  /** The file that it stands in, when it stands in one. */
  readonly file: string | undefined;
  /** Reads it; adds what is wrong to the findings. */
  readonly read: (findings: Finding[]) => LocatedMapping | undefined;
}

export interface ExtendsOptions {
  /** Finds the scenario that `extends` names in the scenario of the file `from`; `undefined` when there is none. */
  readonly find: (name: string, from: string | undefined) => FoundScenario | undefined;
  /** Names to offer when nothing is found. */
  readonly knownNames: readonly string[];
}

/** How many scenarios may stand on each other's shoulders. */
const longestChain = 16;

/**
 * The scenario laid over the one it extends, and that one over the one it extends itself, without `extends`.
 * Everything is inherited but the story.
 *
 * Answers `undefined`, with a finding, when one of them cannot be had.
 */
export function resolveExtends(
  root: LocatedMapping,
  file: string | undefined,
  options: ExtendsOptions,
  findings: Finding[],
  chain: readonly string[] = file === undefined ? [] : [file],
): LocatedMapping | undefined {
  const field = root.members.get("extends");
  // What is no text at all is left for the check of the shape.
  if (field?.kind !== "scalar" || typeof field.value !== "string" || field.value === "") return root;
  const name = field.value;
  const report = (code: Finding["code"], message: string, hint: string) =>
    findings.push({ code, path: ["extends"], place: field.place, message, hint });

  if (chain.length >= longestChain) {
    report("extends_loop", `more than ${longestChain} scenarios extend each other`, "shorten the chain");
    return undefined;
  }
  const found = look();
  if (found === undefined) return undefined;
  const parentFile = found.file ?? name;
  if (chain.includes(parentFile)) {
    const loop = [...chain.slice(chain.indexOf(parentFile)), parentFile].join(" → ");
    report("extends_loop", `the scenarios extend each other: ${loop}`, "remove one of these extends");
    return undefined;
  }
  const read = found.read(findings);
  const parent = read && resolveExtends(read, found.file, options, findings, [...chain, parentFile]);
  return parent && lay(parent);

  function look(): FoundScenario | undefined {
    try {
      const result = options.find(name, file);
      if (result === undefined)
        report("extends_not_found", `there is no scenario ${quote(name)}`, notFoundHint(name));
      return result;
    } catch (error) {
      if (error instanceof ScenarioError) throw error;
      // What our own loaders say is a whole sentence; other messages need one around them.
      const said = error instanceof Error ? error.message : String(error);
      const message =
        error instanceof SandboxError ? said : `the scenario ${quote(name)} could not be read: ${said}`;
      report("extends_failed", message, "name a bundled scenario, or a file relative to this one");
      return undefined;
    }
  }

  function notFoundHint(wanted: string): string {
    const near = nearest(wanted, options.knownNames);
    if (near !== undefined) return `did you mean ${near}?`;
    return `name one of ${options.knownNames.join(", ")}, or a file where the scenario itself is one`;
  }

  function lay(parent: LocatedMapping): LocatedMapping {
    // Each file states its own version, so that a file never changes its meaning with the one it extends.
    const version = parent.members.get("version");
    if (version?.kind !== "scalar" || version.value !== 1) {
      const value = version === undefined ? undefined : version.kind === "scalar" ? version.value : {};
      findings.push({ ...versionFinding(value), place: version?.place ?? parent.place ?? field?.place });
    }
    // A story is a script about exactly the world that it stands beside: in another one it would prove nothing.
    const world = without(without(parent, "version"), "story");
    return mergeLocated(world, without(root, "extends")) as LocatedMapping;
  }
}

function without(mapping: LocatedMapping, name: string): LocatedMapping {
  const members = new Map<string, Located>(mapping.members);
  members.delete(name);
  return { ...mapping, members };
}
