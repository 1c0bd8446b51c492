import type { OpenedScenario } from "../../node/files/scenario-files.js";
import { SandboxError } from "../../rules/errors.js";
import { redactPlainKeys } from "../../rules/keys/redact.js";
import { safeOutput } from "../../rules/terminal-text.js";
import type { CommandCall } from "../command.js";
import { exitCode, exitCodeOf } from "../exit-codes.js";
import type * as shared from "../flags/shared-flags.js";
import type { Io } from "../io.js";
import { openScenarioArgument } from "../scenario/open-scenario.js";
import { filesOfFailure, problemsJson } from "../scenario/scenario-failures.js";
import { storyTestJson, storyTestText, testStory } from "./story-test.js";

// What `verify` finds out about a scenario. It is first read, and then its story is played.

/** A scenario that could be read. */
export interface ScenarioToVerify {
  readonly kind: "read";
  readonly name: string;
  readonly scenario: OpenedScenario;
}

/** A scenario whose story was played: whether it passed, as text and as JSON. */
interface Played {
  readonly kind: "played";
  readonly exitCode: number;
  readonly files: readonly string[];
  readonly text: string;
  readonly json: unknown;
}

/** A scenario that could not be read or started, and why. */
export interface NotPlayed {
  readonly kind: "not_played";
  readonly exitCode: number;
  /** Whether nothing has its name. */
  readonly isUnknown: boolean;
  /** The files whose change may mend it. */
  readonly files: readonly string[];
  readonly error: string;
  readonly json: unknown;
}

/** What came of one scenario. */
export type Verdict = Played | NotPlayed;

/** Reads a scenario. One that cannot be read is not played. */
export async function openToVerify(name: string, io: Io): Promise<ScenarioToVerify | NotPlayed> {
  // If the folder was deleted, this throws, in place of an error for each scenario.
  const { cwd } = io;
  try {
    return { kind: "read", name, scenario: await openScenarioArgument(name, io) };
  } catch (error) {
    return notPlayed(name, error, cwd);
  }
}

/** Plays the story of a scenario. One that cannot be started is not played. */
export async function playStory(
  { name, scenario }: ScenarioToVerify,
  { flags, io }: Pick<CommandCall<shared.SandboxFlags & { readonly quiet?: boolean }>, "flags" | "io">,
): Promise<Verdict> {
  try {
    const test = await testStory(scenario, flags);
    return {
      kind: "played",
      exitCode: test.passed ? exitCode.fine : exitCode.failed,
      files: scenario.loaded.files,
      text: storyTestText(test, io.stdout.style(), flags.quiet === true),
      json: storyTestJson(test),
    };
  } catch (error) {
    return notPlayed(name, error, io.cwd);
  }
}

function notPlayed(name: string, error: unknown, cwd: string): NotPlayed {
  if (!(error instanceof SandboxError)) throw error;
  return {
    kind: "not_played",
    exitCode: exitCodeOf(error),
    isUnknown: error.code === "scenario_not_found",
    files: filesOfFailure(error, name, cwd),
    error: safeOutput(redactPlainKeys(error.message)),
    json: { name, passed: false, problems: problemsJson(error, name), steps: [] },
  };
}
