import type { CommanderError } from "commander";
import { similarFile } from "../node/files/scenario-files.js";
import { commandLine } from "../report/curl-line.js";
import type { SandboxError } from "../rules/errors.js";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import { didYouMean, listed, nearest, quote, quoteFile } from "../schema/words.js";
import type { CommandLine } from "./command.js";
import { commands } from "./commands.js";
import { usageError } from "./exit-codes.js";
import { isPort, longForm } from "./flags.js";
import type { Io } from "./io.js";
import { withVerbose } from "./shared-flags.js";

// Errors about the words of a command line, with what was meant. Only wrong lines load this file.

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
  lint: "validate",
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

  // So many names are near to a word of two letters that the nearest one says nothing.
  if (word.length < 3) return "";
  const hint = didYouMean(word, [...Object.keys(commands), ...Object.keys(bundledScenarios)]);
  if (hint !== "") return hint;
  const file = similarFile(word, cwd);
  return file ? ` Did you mean ${quoteFile(file)}?` : "";
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
  const { name, command, words, clientCommand } = line;
  const [, option, equals] = /^error: unknown option '(-[^'=]*)(=?)/.exec(error.message) ?? [];
  if (option === undefined) {
    // Commander's message as a sentence, with its suggestion in the same line.
    const text = error.message.replace(/^error: /, "").replace(/\n\((.*)\)$/, ". $1");
    const sentence = text.slice(0, 1).toUpperCase() + text.slice(1);
    return wrongUsage(name, /[.?]$/.test(sentence) ? sentence : `${sentence}.`, io);
  }

  // The long forms of the flags that the line can have.
  const names = ["--help", "--version"];
  for (const { spec } of Object.values(withVerbose(command.flags))) names.push(longForm(spec));
  // Commander also calls a flag without a value unknown if it has one.
  if (equals === "=" && names.includes(option)) {
    return wrongUsage(name, `${option} accepts no value. Write ${option}, or leave it out.`, io);
  }
  const takesScenario = Object.keys(command.args ?? {}).some((arg) => arg.includes("scenario"));
  if (option === "--scenario" && takesScenario) {
    // Its value is in the same word, or in the next one.
    const index = words.findIndex((word) => word.startsWith(option));
    const [, ownValue] = words[index]?.split("=") ?? [];
    const scenario = ownValue ?? words[index + 1] ?? "my.yaml";
    const end = command.takesClientCommand ? " -- …" : "";
    const example = `${io.program} ${commandLine([name, scenario])}${end}`;
    return wrongUsage(
      name,
      `Unknown option '--scenario'. A scenario is a word without a flag: ${example}`,
      io,
    );
  }
  // In a line without `--`, a flag such as --coverage may be one of the client's command.
  const mayBeOfClient = command.takesClientCommand === true && clientCommand === undefined;
  const meant = meantFlags(option, names, mayBeOfClient);
  const hint = meant.length === 0 ? "" : ` Did you mean ${listed(meant, "or")}?`;
  return wrongUsage(name, `Unknown option '${option}'.${hint}`, io);
}

/** Flags of other tools, and what they are here. */
const otherFlags: Readonly<Record<string, string>> = {
  "-w": "--watch",
  "-q": "--quiet",
  "--https": "--tls",
  "--ssl": "--tls",
  "--format": "--json",
};

/** The flags that may be meant by an unknown one; help shows some of them only with `--all`. */
function meantFlags(option: string, names: readonly string[], mayBeOfClient: boolean): string[] {
  // In some tools, -V prints the version.
  if (option === "-V") return ["-v"];
  const otherFlag = Object.hasOwn(otherFlags, option) ? otherFlags[option] : undefined;
  if (otherFlag !== undefined && !mayBeOfClient && names.includes(otherFlag)) return [otherFlag];
  if (!option.startsWith("--")) return [];

  if (!mayBeOfClient) {
    // The flags that have all words of the option: people leave out words, as in --coverage for --min-coverage.
    const typed = option.slice(2).split("-");
    const meant = names.filter((name) => {
      const words = name.slice(2).split("-");
      return typed.every((word) => words.includes(word));
    });
    if (meant.length > 0) return meant;
  }
  // Their hyphens would make any two short names similar.
  const similar = nearest(
    option.slice(2),
    names.map((name) => name.slice(2)),
  );
  return similar === undefined ? [] : [`--${similar}`];
}

/** A usage error that shows where the usage of the command is. */
function wrongUsage(name: string, sentence: string, { program }: Pick<Io, "program">): SandboxError {
  return usageError(`${sentence}\nRun \`${program} ${name} --help\` for usage.`);
}
