import { me } from "../api/endpoints/me.js";
import { evaluateKey } from "../api/evaluate.js";
import { variableOf } from "../domain/api-key.js";
import { isSandboxError } from "../domain/errors.js";
import { faultPathOf, matches, onlyDelays } from "../domain/fault.js";
import { type ApiPathId, outcomeOf, type PathId } from "../domain/outcomes.js";
import { createWorld } from "../sandbox/create-world.js";
import type { KeyEntry } from "../sandbox/registry.js";
import { announcedKeys } from "../sandbox/secrets.js";
import type { World } from "../sandbox/world.js";
import { bundledScenarios, type ScenarioName } from "../scenario/bundled.js";
import { previewRequests } from "./reproduce-preview.js";

/** A request that certainly ends on a path. */
interface Reproduction {
  /** The key to send, in words. */
  readonly words: string;
  readonly path: string;
  /** The options of curl, as a shell takes them. */
  readonly options: readonly string[];
}

/** The bundled scenarios to try for a path that the running world cannot end on. */
const fallbackScenarios: readonly ScenarioName[] = ["key-states", "bad-day", "announced-endpoints"];

/**
 * Tells for each path how to cover it now: by one request to the running world, else by one to a bundled scenario. A path
 * that the running scenario offers at its start only is brought back by a reset. `curlOptions` reach the sandbox; under
 * `exec` another scenario is one for `exec`, since no sandbox is left to be reached.
 *
 * Counts nothing and changes nothing.
 */
export function howToCover(
  world: World,
  { curlOptions = "", underExec = false }: { curlOptions?: string; underExec?: boolean } = {},
): (pathId: PathId) => string | null {
  const known = new Map<ScenarioName | undefined, Instructions>();
  const instructionIn = (name: ScenarioName | undefined, pathId: PathId) => {
    const running = known.has(name) ? undefined : worldOf(name);
    const found = known.get(name) ?? (running ? instructionsIn(running, curlOptions) : new Map());
    known.set(name, found);
    return found.get(pathId);
  };
  const worldOf = (name: ScenarioName | undefined) =>
    name === undefined ? world : openBundled(name, world.platform);
  return (pathId) => {
    const here = instructionIn(undefined, pathId);
    if (here !== undefined) return here;
    const other = fallbackScenarios.find((name) => instructionIn(name, pathId) !== undefined);
    if (other === undefined) return null;
    const line = instructionIn(other, pathId);
    if (other === world.name) return `reset the sandbox (POST $SVC_CONTROL_URL/reset), then ${line}`;
    const needs = outcomeOf(pathId).preview === true ? " (it has preview: true)" : "";
    return underExec
      ? `run svc-sandbox exec ${other} -- <command>${needs}, and in it ${line}`
      : `start svc-sandbox ${other}${needs}, then ${line}`;
  };
}

// `undefined` in a page that has not loaded the preview, for a scenario with one.
function openBundled(name: ScenarioName, platform: World["platform"]): World | undefined {
  try {
    return createWorld(bundledScenarios[name], { platform, name });
  } catch (error) {
    if (isSandboxError(error)) return undefined;
    throw error;
  }
}

/** Splits an instruction before its command: `text` ends with the colon, `code` is the line for a shell. */
export function splitInstruction(text: string): string | { readonly text: string; readonly code: string } {
  const cut = text.indexOf(": curl ");
  return cut === -1 ? text : { text: text.slice(0, cut + 1), code: text.slice(cut + 2) };
}

/** The instruction for each path that a world can end on. */
type Instructions = ReadonlyMap<PathId, string>;

/** Tells for each path which request certainly ends on it now; the first one found. */
function instructionsIn(world: World, curlOptions: string): Instructions {
  const found = new Map<PathId, string>();
  const add = (apiPath: ApiPathId, { words, path, options }: Reproduction, entry?: KeyEntry) => {
    for (const pathId of pathsBehindFaults(world, apiPath, entry)) {
      if (found.has(pathId)) continue;
      // Without a timeout curl waits for ever.
      const all = [curlOptions, pathId === "fault.hang" ? "-m 5" : "", ...options].filter(Boolean);
      found.set(pathId, `${words}: ${["curl", ...all, `"$SVC_BASE_URL${path}"`].join(" ")}`);
    }
  };
  const { path } = me;
  // Only keys whose secret clients find in their environment.
  for (const { ref } of announcedKeys(world).keys) {
    const entry = world.registry.key(ref);
    const words = `send ${variableOf(ref)} (ref ${ref})`;
    const header = `-H "x-api-key: $${variableOf(ref)}"`;
    add(evaluateKey(world, ref).pathId, { words, path, options: [header] }, entry);
    for (const { pathId, path, options } of world.preview ? previewRequests(world, entry) : []) {
      add(pathId, { words, path, options: [...options, header] }, entry);
    }
  }
  add("401.missing", { words: "send no key", path, options: [] });
  for (const word of ["malformed", "unknown"] as const) {
    const variable = variableOf(word);
    add(`401.${word}`, { words: `send ${variable}`, path, options: [`-H "x-api-key: $${variable}"`] });
  }
  add("404.unknown_path", { words: "send no key", path: "/v1/relying-party/nothing", options: [] });
  add("405.method", { words: "send no key", path, options: ["-X DELETE"] });
  return found;
}

/** Returns the paths that a request certainly ends on, with the world's faults, when the checks alone end it on this one. */
function pathsBehindFaults(world: World, apiPath: ApiPathId, entry: KeyEntry | undefined): PathId[] {
  const facts = {
    key: entry?.key.ref,
    organization: entry?.key.organization,
    now: world.clock.now(),
    expectedPath: () => apiPath,
  };
  let isFirst = true;
  for (const { when, effect } of world.faults.active) {
    if (!matches(when, facts)) continue;
    const isCertain =
      when.every === undefined && when.requests === undefined && when.probability === undefined;
    if (isCertain && onlyDelays(effect)) return isFirst ? [apiPath, faultPathOf(effect)] : [apiPath];
    if (isCertain) return isFirst ? [faultPathOf(effect)] : [];
    if (!onlyDelays(effect)) return [];
    isFirst = false;
  }
  return [apiPath];
}
