import { version } from "../node/package-files.js";
import { nodePlatform } from "../node/platform.js";
import { cachedBy } from "../rules/cached-by.js";
import { SandboxError } from "../rules/errors.js";
import { parsedJson } from "../rules/schema/json.js";
import { isMapping } from "../rules/schema/shape.js";
import { quote, quoteFile } from "../rules/schema/words.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { type SavedSandbox, saveSandbox } from "../sandbox/snapshot.js";
import { interpretScenario } from "../scenario/interpret.js";
import { bundledOnly, type NamedScenario } from "../scenario/parse-scenario.js";
import { readValue } from "../scenario/plain-data.js";
import { ScenarioError } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/** The number of the text's form. `test/control/state-format.test.ts` fails if the form changes, and this number does not. */
export const stateFormat = 11;

/** The scenario that a server starts with; another may run later. */
interface ScenarioIdentity {
  readonly name: string;
  /** The hash of its content: the same for a moved file, different for an edited file. */
  readonly sha256: string;
}

/** What a state file contains, besides its format and its checksum. */
interface SavedState {
  readonly started_with: ScenarioIdentity;
  readonly sandbox: SavedSandbox;
}

/**
 * The sandbox as one text. It contains no full keys except a scenario's pinned keys (R35). `responded` is the number of the last
 * request id that a later start must not use.
 */
export function stateText(sandbox: SandboxState, startedWith: NamedScenario, responded: number): string {
  const content = {
    svc_sandbox_state: stateFormat,
    version,
    started_with: identityOf(startedWith),
    sandbox: saveSandbox(sandbox, responded),
  };
  const text = JSON.stringify(content);
  const sum = JSON.stringify(checksumOf(text));
  // As a last member, without writing all others again: with 100,000 keys, they are 40 MB.
  return `${text.slice(0, -1)},"sum":${sum}}\n`;
}

/**
 * Reads the sandbox of a text, as of the current scenario's name; `file` is the text's name for messages. Throws
 * `state_unreadable`, or `state_mismatch` if another scenario started it.
 */
export function parseState(text: string, startedWith: NamedScenario, file: string): SavedSandbox {
  const content = parsedJson(text);
  if (!isMapping(content) || content.svc_sandbox_state === undefined) {
    // A part of ours, or an empty file of a full disk.
    const isPart = /^\s*(?:\{"svc_sandbox_state"|$)/.test(text);
    if (isPart) throw damagedState(file, "only a part of it is there");
    throw unreadableState(file, "it is not a state of svc-sandbox");
  }

  const { svc_sandbox_state: format, version: by, sum, ...rest } = content;
  if (format !== stateFormat) {
    const why = `it has format ${quote(format)} of svc-sandbox ${quote(by)}, and svc-sandbox ${version} reads format ${stateFormat}. To continue it, start the version that wrote it`;
    throw damagedState(file, why);
  }

  const summed = JSON.stringify({ svc_sandbox_state: format, version: by, ...rest });
  const isWhole = sum === checksumOf(summed) && isMapping(rest.started_with) && isMapping(rest.sandbox);
  if (!isWhole) throw damagedState(file, "a part of it is missing or damaged");

  const saved = rest as unknown as SavedState; // what has its checksum is ours
  requireSame(saved.started_with, identityOf(startedWith), file);
  const { sandbox } = saved;
  const isOfStart = sandbox.name === saved.started_with.name;
  return {
    ...sandbox,
    // A moved scenario file gets its new name; a scenario that was loaded later keeps its own.
    name: isOfStart ? startedWith.name : sandbox.name,
    scenario: checked(sandbox.scenario, file),
    snapshot: checked(sandbox.snapshot, file),
  };
}

/** A sandbox grows with every new key. Every written state must be readable. */
function checked(scenario: Scenario, file: string): Scenario {
  try {
    return interpretScenario(readValue(scenario, Number.POSITIVE_INFINITY), bundledOnly).scenario;
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw damagedState(file, `its scenario is not valid: ${error.problems[0]?.message}`);
  }
}

function checksumOf(text: string): string {
  return nodePlatform.sha256(text).slice(0, 16);
}

const hashOf = cachedBy((scenario: Scenario) => nodePlatform.sha256(JSON.stringify(scenario)));

function identityOf({ name, scenario }: NamedScenario): ScenarioIdentity {
  return { name, sha256: hashOf(scenario) };
}

/** Throws `state_mismatch` if another scenario started the state. */
function requireSame(saved: ScenarioIdentity, current: ScenarioIdentity, file: string): void {
  if (saved.sha256 === current.sha256) return;
  throw new SandboxError(
    "state_mismatch",
    `The state ${quoteFile(file)} was started with the scenario ${identityText(saved)}, and this one has ${identityText(current)}. Start this one with the same, or name another file, or remove this one to start again.`,
    { stored: saved, own: current },
  );
}

function identityText({ name, sha256 }: ScenarioIdentity): string {
  return `${name} (content ${sha256.slice(0, 12)})`;
}

/** A file that svc-sandbox has written, and cannot continue. */
export function damagedState(file: string, why: string): SandboxError {
  return unreadableState(file, why, "Name another file, or remove this one to start again.");
}

/** A file that may be the user's: nobody should remove it. */
export function unreadableState(
  file: string,
  why: string,
  whatToDo = "Name another file for the state.",
): SandboxError {
  const message = `Failed to continue from the state ${quoteFile(file)}: ${why}. ${whatToDo}`;
  return new SandboxError("state_unreadable", message);
}
