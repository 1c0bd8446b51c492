// Errors about the words of a command line, with what was meant. Only wrong lines load this file.

import type { CommanderError } from "commander";
import { similarFile } from "../../node/files/scenario-files.js";
import { commandLine } from "../../report/curl-line.js";
import type { SandboxError } from "../../rules/errors.js";
import { bundledScenarios, isScenarioName } from "../../scenario/bundled.js";
import { didYouMean, listed, nearest, quote, quoteFile } from "../../schema/words.js";
import { commands } from "../commands.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags/flag.js";
import { isPort } from "../flags/readers.js";
import * as shared from "../flags/shared-flags.js";
import type { Io } from "../io.js";
import { type CommandLine, wrongUsage } from "./command-line.js";

/** The error for a first word that is neither a command nor a scenario. */
export function unknownWordError(word: string, io: Io): SandboxError {
  const { program } = io;
  // In `svc-sandbox --json list`, the flags belong to the default command, and the command looks like its scenario.
  if (Object.hasOwn(commands, word)) {
    return usageError(
      `${quote(word)} is a command, not a scenario. Put the command before its flags: ${program} ${word} …`,
    );
  }
  return usageError(
    `${quote(word)} is not a command, a bundled scenario or a file here.${whatIsMeant(word, io)}\nRun \`${program} --help\` for the commands, or \`${program} list\` for the bundled scenarios.`,
  );
}

/** What to write in place of words that are no commands: those of other tools, and of things. */
const otherWords: Readonly<Record<string, string>> = {
  organizations: "fixtures organizations",
  farmers: "fixtures farmers",
  check: "compare <base-url>, or validate <file>",
  run: "exec -- npm test",
  test: "exec -- npm test",
  serve: "start",
  server: "start",
  version: "--version",
};

/** A hint as a sentence, or nothing: a port, the word of another tool, a similar name, or a similar file. */
function whatIsMeant(word: string, { program, cwd }: Io): string {
  if (isPort(word)) return ` Did you mean ${program} start --port ${word}?`;
  const otherWord = Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
  if (otherWord !== undefined) return ` Did you mean ${program} ${otherWord}?`;

  const hint = didYouMean(word, [...Object.keys(commands), ...Object.keys(bundledScenarios)]);
  if (hint !== "") return hint;
  const file = similarFile(word, cwd);
  return file ? ` Did you mean ${quoteFile(file)}?` : "";
}

/** The error for a port in place of a scenario. */
export function portError(name: string, port: string, { program }: Io): SandboxError {
  return usageError(
    `${quote(port)} is not a bundled scenario or a file here. Did you mean ${program} ${name} --port ${port}?`,
  );
}

/** The error for a word that starts with a long dash: some editors and chats write it in place of two hyphens. */
export function longDashError(word: string): SandboxError {
  const name = word.replace(/^\P{L}+/u, "");
  return usageError(`${quote(word)} starts with a long dash, and not with two hyphens. Write --${name}.`);
}

/** The error for a line that has the command line of a client, and no `--` before it. */
export function missingDashesError(name: string, args: readonly string[], io: Io): SandboxError {
  const [first = "", ...moreArgs] = args;
  const isScenario = isScenarioName(first) || /\.ya?ml$/i.test(first);
  const before = isScenario ? `${name} ${commandLine([first])}` : name;

  // Words with a flag among them may not be meant as one command line.
  const command = isScenario ? moreArgs : args;
  const isPlain = command.length > 0 && command.every((word) => !word.startsWith("-"));
  const behind = isPlain ? commandLine(command) : "npm test";
  return wrongUsage(name, `${name} needs -- before your command: ${io.program} ${before} -- ${behind}`, io);
}

/** The error for a line with nothing after its `--`. */
export function missingCommandError(name: string, args: readonly string[], io: Io): SandboxError {
  const example = `${io.program} ${commandLine([name, ...args])} -- npm test`;
  return wrongUsage(name, `${name} needs a command after --: ${example}`, io);
}

/** The error for a line that Commander cannot read. */
export function parsingError(error: CommanderError, line: CommandLine, io: Io): SandboxError {
  const [, option, end] = /^error: unknown option '(-[^'=]*)(=?)/.exec(error.message) ?? [];
  if (option === undefined) return wrongUsage(line.name, commanderSentence(error), io);

  const names = flagNames(line);
  // Commander also calls a flag without a value unknown if it has one.
  if (end === "=" && names.includes(option)) {
    return wrongUsage(line.name, `${option} accepts no value. Write ${option}, or leave it out.`, io);
  }
  const meant = meantFlags(option, names, line);
  const hint = meant.length === 0 ? "" : ` Did you mean ${listed(meant, "or")}?`;
  return wrongUsage(line.name, `Unknown option '${option}'.${hint}`, io);
}

/** The long forms of the flags that a line can have. */
function flagNames({ command }: CommandLine): string[] {
  const names = ["--help", "--version"];
  for (const { spec } of Object.values(shared.withVerbose(command.flags))) names.push(flag.longForm(spec));
  return names;
}

/** The flags that may be meant by an unknown one; help shows some of them only with `--all`. */
function meantFlags(option: string, names: readonly string[], { command, argv }: CommandLine): string[] {
  // In some tools, -V prints the version.
  if (option === "-V") return ["-v"];
  if (!option.startsWith("--")) return [];

  // In a line without `--`, a flag such as --coverage may be one of the client's command.
  const mayBeOfClient = command.takesClientCommand === true && !argv.includes("--");
  if (!mayBeOfClient) {
    const meant = flagsWithWords(option, names);
    if (meant.length > 0) return meant;
  }
  const similar = nearest(option, names);
  return similar === undefined ? [] : [similar];
}

/** The flags that have all words of an option: people leave out words, as in --coverage for --min-coverage. */
function flagsWithWords(option: string, names: readonly string[]): string[] {
  const typed = option.slice(2).split("-");
  return names.filter((name) => {
    const words = name.slice(2).split("-");
    return typed.every((word) => words.includes(word));
  });
}

/** Commander's message as a sentence, with its suggestion in the same line. */
function commanderSentence(error: CommanderError): string {
  const text = error.message.replace(/^error: /, "").replace(/\n\((.*)\)$/, ". $1");
  const sentence = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.?]$/.test(sentence) ? sentence : `${sentence}.`;
}
