import { me } from "../api/endpoints/me.js";
import { evaluateKey } from "../api/evaluate.js";
import { variableOf } from "../domain/api-key.js";
import { isSandboxError } from "../domain/errors.js";
import { type FaultEffect, faultPathOf, matches, onlyDelays } from "../domain/fault.js";
import { type ApiPathId, outcomeOf, type PathId } from "../domain/outcomes.js";
import { bundledScenarios, type ScenarioName } from "../scenario/bundled.js";
import { createWorld } from "../world/create-world.js";
import type { KeyEntry } from "../world/registry.js";
import { announcedKeys } from "../world/secrets.js";
import type { World } from "../world/world.js";
import { shellWord } from "./plain-text.js";
import { type KeylessRequest, previewRequests } from "./reproduce-preview.js";

/** A request that always covers a path. */
export interface Reproduction extends KeylessRequest {
  /** The variable with the key to send; `undefined` for no key. */
  readonly variable?: string;
  /** The ref of the key, if the sandbox has that key. */
  readonly ref?: string;
  /** The path where it would end without faults. */
  readonly apiPath: ApiPathId;
  /** The fault that always hits it. */
  readonly fault?: FaultEffect;
}

/** The bundled scenarios to try for paths that no request to the running sandbox covers. */
export const fallbackScenarios: readonly ScenarioName[] = ["key-states", "bad-day", "announced-endpoints"];

/**
 * Returns a function that shows how to cover a path now: with a request to the running sandbox, after a reset if it can be
 * covered only at the scenario's start, or with a bundled scenario. With `curlOptions`, curl trusts the server. With
 * `underExec`, the instructions use `exec`, because the sandbox has already stopped.
 *
 * Counts and changes nothing.
 */
export function howToCover(
  world: World,
  { curlOptions = "", underExec = false }: { curlOptions?: string; underExec?: boolean } = {},
): (pathId: PathId) => string | null {
  const known = new Map<ScenarioName | undefined, ReturnType<typeof reproductionsIn>>();
  const instructionIn = (name: ScenarioName | undefined, pathId: PathId) => {
    const running = known.has(name) ? undefined : worldOf(name);
    const found = known.get(name) ?? (running ? reproductionsIn(running) : new Map());
    known.set(name, found);
    const reproduction = found.get(pathId);
    return reproduction && `${wordsOf(reproduction)}: ${curlLine(reproduction, curlOptions, pathId)}`;
  };
  const worldOf = (name: ScenarioName | undefined) =>
    name === undefined ? world : openBundled(name, world.platform);
  return (pathId) => {
    const here = instructionIn(undefined, pathId);
    if (here !== undefined) return here;
    const other = fallbackScenarios.find((name) => instructionIn(name, pathId) !== undefined);
    if (other === undefined) return null;
    const line = instructionIn(other, pathId);
    if (other === world.name) {
      const options = `${curlOptions && `${curlOptions} `}-X POST -H content-type:application/json`;
      return `reset the sandbox (curl ${options} $SVC_CONTROL_URL/reset), then ${line}`;
    }
    const needs = outcomeOf(pathId).preview === true ? " (it has preview: true)" : "";
    return underExec
      ? `with svc-sandbox exec ${other} -- <command>${needs}, ${line}`
      : `start svc-sandbox ${other}${needs}, then ${line}`;
  };
}

// Returns `undefined` for a scenario with the preview, in a page without farmers.
function openBundled(name: ScenarioName, platform: World["platform"]): World | undefined {
  try {
    return createWorld(bundledScenarios[name], { platform, name });
  } catch (error) {
    if (isSandboxError(error)) return undefined;
    throw error;
  }
}

/** Splits an instruction before its command: `text` ends with the colon, `code` is the shell command. */
export function splitInstruction(text: string): string | { readonly text: string; readonly code: string } {
  const cut = text.indexOf(": curl ");
  return cut === -1 ? text : { text: text.slice(0, cut + 1), code: text.slice(cut + 2) };
}

/** Returns the key that an instruction sends (its ref, none, malformed or unknown), or the steps before its request. */
export function keyToSend(instruction: string): string {
  const [, ref, word, none] =
    /^send (?:SVC_KEY_\w+ \(ref (\S+)\)|SVC_KEY_(\w+)|(no key)): curl /.exec(instruction) ?? [];
  const [steps = ""] = instruction.split(": curl ");
  return ref ?? word?.toLowerCase() ?? (none === undefined ? steps : "none");
}

function wordsOf({ variable, ref }: Reproduction): string {
  if (variable === undefined) return "send no key";
  return ref === undefined ? `send ${variable}` : `send ${variable} (ref ${ref})`;
}

// Returns a command for a shell.
function curlLine(found: Reproduction, curlOptions: string, pathId: PathId): string {
  const { variable, method, path, headers = {}, body } = found;
  const words = [
    "curl",
    curlOptions,
    // Without a timeout, curl would wait forever.
    pathId === "fault.hang" && "-m 5",
    method !== undefined && `-X ${method}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    body !== undefined && `-d ${shellWord(body)}`,
    variable !== undefined && `-H "x-api-key: $${variable}"`,
    `"$SVC_BASE_URL${path}"`,
  ];
  return words.filter(Boolean).join(" ");
}

/** Returns a request for each path that can be covered now: the first one that always covers it. */
export function reproductionsIn(world: World): ReadonlyMap<PathId, Reproduction> {
  const found = new Map<PathId, Reproduction>();
  type Sent = Omit<Reproduction, "apiPath" | "fault">;
  const add = (apiPath: ApiPathId, sent: Sent, entry?: KeyEntry) => {
    for (const { pathId, fault } of pathsWithFaults(world, apiPath, entry)) {
      if (!found.has(pathId)) found.set(pathId, { ...sent, apiPath, ...(fault && { fault }) });
    }
  };
  const { path } = me;
  // Only keys in the environment of clients.
  for (const { ref } of announcedKeys(world).keys) {
    const entry = world.registry.key(ref);
    const key = { variable: variableOf(ref), ref };
    add(evaluateKey(world, ref).pathId, { ...key, path }, entry);
    for (const [pathId, request] of world.preview ? previewRequests(world, entry) : []) {
      add(pathId, { ...key, ...request }, entry);
    }
  }
  add("401.missing", { path });
  for (const word of ["malformed", "unknown"] as const) {
    add(`401.${word}`, { variable: variableOf(word), path });
  }
  add("404.unknown_path", { path: "/v1/relying-party/nothing" });
  add("405.method", { method: "DELETE", path });
  return found;
}

/** Returns the paths that a request always covers with the active faults, if it would cover this one without faults. */
function pathsWithFaults(
  world: World,
  apiPath: ApiPathId,
  entry: KeyEntry | undefined,
): { pathId: PathId; fault?: FaultEffect }[] {
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
    const ends = isFirst ? [{ pathId: faultPathOf(effect), fault: effect }] : [];
    if (isCertain) return onlyDelays(effect) ? [{ pathId: apiPath }, ...ends] : ends;
    if (!onlyDelays(effect)) return [];
    isFirst = false;
  }
  return [{ pathId: apiPath }];
}
