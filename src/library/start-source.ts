import { throwIfProblems } from "../rules/validation.js";
import type { StartOptions } from "../sandbox/sandbox-state.js";
import { readSnapshot, type Snapshot } from "../sandbox/saved-sandbox.js";
import type { StartSource } from "../sandbox/start-sandbox.js";
import { resolveSource } from "../scenario/scenario-source.js";
import { isMapping } from "../schema/type-tag.js";
import type { SandboxSource } from "./known-refs.js";
import { sha256Hex } from "./web-platform.js";

/**
 * What a caller gives to start with, checked; `options` are those of the caller. Throws as `resolveSource` does, and
 * `validation_failed` for a snapshot that cannot continue like this.
 */
export function startSourceOf(
  source: SandboxSource,
  { seed, now, frozen, profile }: StartOptions,
): StartSource {
  if (!isSnapshot(source)) return resolveSource(source);
  const own = "is in the snapshot already: leave it out";
  throwIfProblems("continue the snapshot", {
    seed: seed === undefined ? undefined : own,
    now: now === undefined ? undefined : own,
    frozen: frozen === undefined ? undefined : own,
    profile: profile === undefined ? undefined : own,
  });
  const saved = readSnapshot(source, { sha256: sha256Hex });
  return { name: saved.name, text: saved.text, scenario: saved.scenario, saved };
}

function isSnapshot(source: SandboxSource): source is Snapshot {
  return isMapping(source) && "svc_sandbox_state" in source;
}
