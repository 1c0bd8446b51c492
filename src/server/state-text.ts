import { version } from "../node/package-files.js";
import { nodeCrypto, nodePlatform } from "../node/platform.js";
import { cachedByObject } from "../rules/cached-by.js";
import { SandboxError } from "../rules/errors.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { type SavedSandbox, savedSandboxShape, saveSandbox } from "../sandbox/saved-sandbox.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { checkShape } from "../schema/check.js";
import { tryParseJson } from "../schema/json-text.js";
import { isMapping } from "../schema/type-tag.js";
import { quote, quoteFile } from "../schema/words.js";

/** The number of the text's form. `test/control/state-format.test.ts` fails if the form changes, and this number does not. */
export const stateFormat = 16;

/** How many of its 64 digits a checksum has. */
const checksumLength = 16;

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

// The text is one object of JSON. Its last member is a checksum of the same object without that member:
//
//     {"svc_sandbox_state":16,…,"sandbox":{…},"sum":"0123456789abcdef"}

/** The text of a state, in parts: with 100,000 keys, it is 27 MB. It contains no full keys except a scenario's pinned keys (R35). */
export function* stateParts(sandbox: SandboxState, startedWith: NamedScenario): Generator<string> {
  const hash = nodeCrypto.createHash("sha256");

  const firstMembers = JSON.stringify({
    svc_sandbox_state: stateFormat,
    version,
    started_with: scenarioIdentity(startedWith),
  });
  const opening = `${firstMembers.slice(0, -1)},"sandbox":`; // the object goes on
  hash.update(opening);
  yield opening;
  for (const part of saveSandbox(sandbox)) {
    hash.update(part);
    yield part;
  }

  // Without the checksum, the object ends here.
  hash.update("}");
  yield `,"sum":"${hash.digest("hex").slice(0, checksumLength)}"}\n`;
}

/**
 * Reads the sandbox of a text. `startedWith` is the scenario of this start: the same as that of the start before, but it may have
 * another name now. `file` is the name for messages. Throws `state_unreadable`, or `state_mismatch` for another scenario.
 */
export function parseState(text: string, startedWith: NamedScenario, file: string): SavedSandbox {
  const content = tryParseJson(text);
  if (!isMapping(content) || content.svc_sandbox_state === undefined) {
    if (text.startsWith("\uFEFF")) throw damagedState(file, "an editor has added a byte order mark");
    // The start of a state, or an empty file, as full disks leave them. Anything else may be a file of the user.
    const isCutOff = /^\s*(?:\{"svc_sandbox_state"|$)/.test(text);
    if (isCutOff) throw damagedState(file, "only a part of it is there");
    throw unreadableState(file, "it is not a state of svc-sandbox");
  }

  const { svc_sandbox_state: format, version: writer, sum, ...rest } = content;
  // Another version may have written it.
  if (format !== stateFormat) {
    const why = `it has format ${quote(format)} of svc-sandbox ${quote(writer)}, and svc-sandbox ${version} reads format ${stateFormat}. To continue it, start the version that wrote it`;
    throw damagedState(file, why);
  }

  // The checksum is of the same object without this last member.
  const contentOfSum = `${text.slice(0, text.lastIndexOf(',"sum":'))}}`;
  const isWhole = sum === nodePlatform.sha256(contentOfSum).slice(0, checksumLength);
  const isUndamaged = isWhole && isMapping(rest.started_with) && isMapping(rest.sandbox);
  if (!isUndamaged) throw damagedState(file, "a part of it is missing or damaged");

  const [problem] = checkShape(savedSandboxShape, rest.sandbox).problems;
  if (problem !== undefined) throw damagedState(file, `its sandbox is not valid: ${problem.message}`);
  const saved = rest as unknown as SavedState; // svc-sandbox wrote what has its checksum
  requireSameScenario(saved.started_with, scenarioIdentity(startedWith), file);

  // The file of this scenario may have been moved since. Another scenario may have been loaded, and has a name of its own.
  const { sandbox } = saved;
  const runsThisScenario = sandbox.name === saved.started_with.name;
  return { ...sandbox, name: runsThisScenario ? startedWith.name : sandbox.name };
}

function scenarioIdentity({ name, scenario }: NamedScenario): ScenarioIdentity {
  return { name, sha256: scenarioHash(scenario) };
}

// Cached: each save needs it.
const scenarioHash = cachedByObject((scenario: Scenario) => nodePlatform.sha256(JSON.stringify(scenario)));

/** Throws `state_mismatch` if another scenario started the state. */
function requireSameScenario(saved: ScenarioIdentity, current: ScenarioIdentity, file: string): void {
  if (saved.sha256 === current.sha256) return;
  const identityText = ({ name, sha256 }: ScenarioIdentity) => `${name} (content ${sha256.slice(0, 12)})`;
  throw new SandboxError(
    "state_mismatch",
    `The state ${quoteFile(file)} was started with the scenario ${identityText(saved)}, and this one has ${identityText(current)}. Start this one with the same, or name another file, or remove this one to start again.`,
    { stored: saved, own: current },
  );
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
