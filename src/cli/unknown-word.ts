import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { SandboxError } from "../domain/errors.js";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import { nearest, quote } from "../scenario/problems/words.js";
import { commands } from "./commands.js";
import { usageError } from "./exit-codes.js";
import type { Io } from "./io.js";

/** Whether a word names a scenario: a bundled one, or a file that is there. */
export function isScenario(word: string, io: Io): boolean {
  return isScenarioName(word) || existsSync(resolve(io.cwd, word));
}

/** The first word is no command and no scenario: says what it might have been. */
export function unknownWord(word: string): SandboxError {
  const names = Object.keys(commands);
  // `svc-sandbox --json list`: the flags are taken for those of the default command, and the command for its scenario.
  if (names.includes(word)) {
    return usageError(
      `Failed to find the scenario ${quote(word)}: that is a command, and a command comes before its flags: svc-sandbox ${word} …`,
    );
  }
  const command = nearest(word, names);
  const scenario = nearest(word, Object.keys(bundledScenarios));
  const meant = [
    ...(command === undefined ? [] : [`the command ${quote(command)}`]),
    ...(scenario === undefined ? [] : [`the scenario ${quote(scenario)}`]),
  ].join(" or ");
  return usageError(
    `Failed to understand ${quote(word)}: it is neither a command, nor a bundled scenario, nor a file here.${
      meant === "" ? "" : ` Did you mean ${meant}?`
    }\n\`svc-sandbox --help\` shows the commands, \`svc-sandbox list\` the bundled scenarios.`,
  );
}
