import { version } from "../../node/package-files.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { SandboxError } from "../../spec/errors.js";
import { extendState } from "../extend-state.js";
import { identityOf, type SavedState } from "./format.js";

/** A state that continues here, and a readable list of changes. */
export interface Migrated {
  readonly state: SavedState;
  readonly changes: readonly string[];
}

/**
 * Continues a state in this version with the current scenario, which may have additional organizations and keys.
 *
 * The scenario must be equal unless `isAllowed`. Throws `state_mismatch`, also for a state of another major version.
 */
export function migrateState(
  saved: SavedState,
  served: NamedScenario,
  { given, isAllowed }: { readonly given: string; readonly isAllowed: boolean },
): Migrated {
  const { startedWith, own, version: before = version } = saved;
  const [old, name] = [startedWith.name, served.name].map((one) => JSON.stringify(one));
  const mismatch = (what: string, why: string) => {
    const message = `Failed to ${what} the state ${JSON.stringify(given)}${why}`;
    return new SandboxError("state_mismatch", message, { state: startedWith.name, scenario: served.name });
  };
  if (Number.parseInt(before, 10) !== Number.parseInt(version, 10)) {
    throw mismatch(
      "continue from",
      `: svc-sandbox ${before} wrote it, and ${version} is another major version, which cannot migrate it. Use svc-sandbox ${before}, or name another file.`,
    );
  }
  const updated = before === version ? [] : [`svc-sandbox ${before} to ${version}`];
  const identity = identityOf(served);
  if (identity.sha256 === startedWith.sha256) return { state: saved, changes: updated };
  if (!isAllowed) {
    const why =
      old === name
        ? `the scenario ${name} differs from the scenario that started the state`
        : `it was started with the scenario ${old}, not ${name}`;
    throw mismatch(
      "continue from",
      `: ${why}. Add --migrate if the scenario only has more organizations and keys. Otherwise name another file, or remove this one to start again.`,
    );
  }
  // A scenario that was loaded at run time stays.
  if (identityOf(own).sha256 !== startedWith.sha256) {
    return { state: { ...saved, startedWith: identity }, changes: [...updated, `the start from ${name}`] };
  }
  const extended = extendState(own, served);
  if (typeof extended === "string") {
    throw mismatch(
      "migrate",
      ` to the scenario ${name}: ${extended}. A scenario may only get more organizations and keys. Undo that change, or name another file.`,
    );
  }
  const { state, changes } = extended;
  return { state: { ...saved, startedWith: identity, own: state }, changes: [...updated, ...changes] };
}
