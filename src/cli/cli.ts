import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command as Commander, CommanderError, Option } from "commander";
import { similarFile, stdinName } from "../node/files/load-scenario.js";
import { version } from "../node/package-files.js";
import { isExecutable } from "../node/platform.js";
import { alignColumns, commandLine, shellWord } from "../report/plain-text.js";
import type { SandboxError } from "../rules/errors.js";
import { didYouMean, listed, nearest, quote } from "../rules/schema/words.js";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import type { CliCommand } from "./command.js";
import { commands } from "./commands.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "./exit-codes.js";
import * as flag from "./flags.js";
import { errorFormOf, type GivenIo, type Io, splitAtDashes } from "./io.js";
import { createPrinter } from "./terminal.js";

export { setPackageReader } from "../node/package-files.js";
export type { Io } from "./io.js";
export { processIo } from "./io.js";

/**
 * Runs one command line (without `node` and the script) and resolves to its exit code. Never throws.
 *
 * @example
 * process.exitCode = await cli(process.argv.slice(2), processIo(process));
 */
export async function cli(argv: readonly string[], hostIo: GivenIo): Promise<number> {
  const program = programIn(hostIo.env);
  // A copy would read `stdin`, which opens it.
  const io: Io = Object.assign(Object.create(hostIo), {
    stdout: createPrinter(hostIo.stdout, hostIo.env),
    stderr: createPrinter(hostIo.stderr, hostIo.env),
    program,
  });
  try {
    return await run(argv, io);
  } catch (error) {
    const form = errorFormOf(argv, io.env);
    const text = describeFailure(error, form);
    // A line of JSON stays a line.
    if (form.json) io.stderr.write(text);
    else io.stderr.say(text);
    return exitCodeOf(error);
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const [before, behind] = splitAtDashes(argv);
  const isCommand = (word: string | undefined) => word !== undefined && Object.hasOwn(commands, word);
  const word = before[0] === "help" ? before[1] : before[0];
  const name = word !== undefined && isCommand(word) ? word : (Object.keys(commands)[0] as string);
  if (!isCommand(word) && !word?.startsWith("-")) throwUnknownWord(word, io);
  const command = await load(name);
  const listsAll = !isCommand(word) && before.some((one) => ["help", "-h", "--help"].includes(one));
  const program = await programOf(name, listsAll, before, io);
  let code: number = exitCode.fine;
  program.commands
    .find((one) => one.name() === name)
    ?.action(async (...parts: unknown[]) => {
      const commander = parts.at(-1) as Commander;
      const { args: words } = commander;
      if (!isCommand(word)) throwUnknownWord(words[0], io);
      const hasExcess = command.rest !== undefined && words.length > Object.keys(command.words ?? {}).length;
      if (hasExcess) throw lacksDashes(name, words, io);
      if (command.rest !== undefined && behind.length === 0) throw lacksCommand(name, words, argv, io);
      await warnOfVariables(command, io);
      const line = isCommand(word) ? argv : [name, ...argv];
      const flags = flagValues(commander, command, io.env);
      code = (await command.run({ words, flags, line, rest: behind, io })) ?? exitCode.fine;
    });
  try {
    await program.parseAsync([...(command.rest === undefined ? argv : before)], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return code;
    throw misread(name, unknownFlag(error, command, argv) ?? commanderSentence(error), io);
  }
  return code;
}

/** The program with the names of all commands. Usually only the one that runs is whole: loading every command takes long. */
async function programOf(
  name: string,
  listsAll: boolean,
  argv: readonly string[],
  io: Io,
): Promise<Commander> {
  const program = rootOf(io);
  for (const [index, commandName] of Object.keys(commands).entries()) {
    const declared = commandName === name || listsAll ? await load(commandName) : undefined;
    const commander = declared
      ? commanderOf(commandName, declared, io, argv.includes("--all"))
      : new Commander(commandName);
    program.addCommand(commander, { isDefault: index === 0 });
  }
  return program;
}

/** Commander's message as a sentence, with its suggestion in the same line. */
function commanderSentence({ message }: CommanderError): string {
  const text = message.replace(/^error: /, "").replace(/\n\((.*)\)$/, ". $1");
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? "" : "."}`;
}

/** The sentence about an unknown flag, if more can be said than Commander does: it also calls one with a needless value unknown. */
function unknownFlag(
  { message }: CommanderError,
  command: CliCommand,
  argv: readonly string[],
): string | undefined {
  const [, long, end] = /^error: unknown option '--([a-z-]+)(['=])/.exec(message) ?? [];
  if (long === undefined) return undefined;
  const flags = Object.values(allFlagsOf(command)).map(({ spec }) => flag.longForm(spec).slice(2));
  const names = ["help", "version", ...flags];
  if (end === "=" && names.includes(long))
    return `--${long} accepts no value. Write --${long}, or leave it out.`;
  // Without `--`, it may be a flag of the user's command.
  if (command.rest !== undefined && !argv.includes("--")) return undefined;
  // People leave out words, as in --coverage.
  const longer = names.filter((name) => long.split("-").every((word) => name.split("-").includes(word)));
  const meant = longer.map((name) => `--${name}`);
  return meant.length === 0 ? undefined : `Unknown option '--${long}'. Did you mean ${listed(meant, "or")}?`;
}

// Ignores variables of other programs or other versions.
async function warnOfVariables(command: CliCommand, io: Io): Promise<void> {
  const { env, stderr } = io;
  const prefix = "SVC_SANDBOX_";
  const variablesOf = (command: CliCommand) =>
    Object.values(allFlagsOf(command)).flatMap((one) => one.variables);
  const unknownTo = (known: readonly string[], names: readonly string[]) =>
    names.filter((name) => name.startsWith(prefix) && !known.includes(name));
  const names = unknownTo(variablesOf(command), Object.keys(env));
  // Usually there are none, and loading every command takes long.
  if (names.length === 0) return;
  const loadedCommands = await Promise.all(Object.keys(commands).map(load));
  const variables = loadedCommands.flatMap(variablesOf);
  const suffixes = variables.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  for (const name of unknownTo(variables, names)) {
    const meant = nearest(name.slice(prefix.length), suffixes);
    if (meant !== undefined) stderr.say(`Warning: ${name} has no effect. Did you mean ${prefix}${meant}?\n`);
  }
}

function load(name: string): Promise<CliCommand> {
  return commands[name]?.() as Promise<CliCommand>;
}

function lacksDashes(name: string, words: readonly string[], io: Io): SandboxError {
  const [first = "", ...moreWords] = words;
  const isScenario = isScenarioName(first) || /\.ya?ml$/i.test(first);
  const command = isScenario ? moreWords : words;
  const isPlain = command.length > 0 && command.every((word) => !word.startsWith("-"));
  const before = isScenario ? `${name} ${commandLine([first])}` : name;
  const example = `${io.program} ${before} -- ${isPlain ? commandLine(command) : "npm test"}`;
  return misread(name, `${name} needs -- before your command: ${example}`, io);
}

/** Of a command line without `--`, or with nothing after it. */
function lacksCommand(name: string, words: readonly string[], argv: readonly string[], io: Io): SandboxError {
  if (!argv.includes("--")) return lacksDashes(name, words, io);
  const example = `${io.program} ${commandLine([name, ...words])} -- npm test`;
  return misread(name, `${name} needs a command after --: ${example}`, io);
}

function misread(name: string, sentence: string, { program }: Io): SandboxError {
  return usageError(`${sentence}\nRun \`${program} ${name} --help\` for usage.`);
}

const rootExamples = {
  "svc-sandbox": "serve every state of a key",
  "svc-sandbox list": "see which scenarios there are",
  "svc-sandbox explain revoked": "why a key is rejected, and what to do",
  "svc-sandbox init && svc-sandbox --watch": "start your own scenario",
};

const rootNotes = `Run \`svc-sandbox <command> --help\` for a command's flags.
\`svc-sandbox key-states\` is short for \`svc-sandbox start key-states\`.
To set a flag in the environment, use the variable in brackets.`;

/** The same on every terminal, because the documentation contains the help. */
const helpWidth = 80;

function rootOf(io: Io): Commander {
  const notes = rootNotes.replaceAll("svc-sandbox", io.program);
  return configure(new Commander(io.program), io)
    .description(
      "A sandbox of the relying-party API: every key state, limit and error, the same way each time.\n\nCoding agents: read AGENTS.md in the package first (3 kB; node_modules/svc-sandbox/AGENTS.md).",
    )
    .usage("[command] [scenario] [flags]")
    .helpCommand("help [command]", "print the help of a command")
    .version(version, "-V, --version", "print the version")
    .addHelpText("after", `\n${exampleText(rootExamples, io)}\n\n${notes}`);
}

function commanderOf(name: string, command: CliCommand, io: Io, showsAll: boolean): Commander {
  const { summary, description, words = {}, rest, examples, usualFlags = [] } = command;
  const shownFlags: readonly string[] =
    showsAll || usualFlags.length === 0 ? Object.keys(allFlagsOf(command)) : usualFlags;
  const hidden = Object.keys(allFlagsOf(command)).length - shownFlags.length;
  const more = hidden === 0 ? "" : `\n${hidden} more flags: ${io.program} ${name} --help --all\n`;
  const usage = [...Object.keys(words), "[flags]", ...(rest === undefined ? [] : ["--", rest])];
  const commander = configure(new Commander(name), io)
    .summary(summary)
    .description(description)
    .usage(usage.join(" "))
    // Such a command has its own message.
    .allowExcessArguments(rest !== undefined)
    .addHelpText("after", () => `${more}\n${exampleText(examples, io)}`);
  for (const [spec, text] of Object.entries(words)) commander.argument(spec, text);
  for (const [attribute, declared] of Object.entries(allFlagsOf(command))) {
    commander.addOption(optionOf(declared).hideHelp(!shownFlags.includes(attribute)));
  }
  return commander;
}

function allFlagsOf({ flags }: CliCommand): flag.FlagSet {
  return { ...flags, verbose: "log" in flags ? flag.verboseLog : flag.verbose };
}

function optionOf({ spec, text, variables, read, conflicts }: flag.Flag<unknown>): Option {
  const also = variables.length === 0 ? "" : ` [${variables.join(", ")}]`;
  const option = new Option(spec, text + also).conflicts([...conflicts]);
  if (!spec.includes("<")) return option;
  return option.argParser<unknown>((value, previous) => {
    const latest = read(value, flag.longForm(spec));
    if (previous === undefined) return latest;
    if (Array.isArray(latest) && Array.isArray(previous)) return [...previous, ...latest];
    throw usageError(`${flag.longForm(spec)} appears more than once. Keep one.`);
  });
}

// Commander also reads variables, but treats an empty value and `0` as set, and allows only one per option.
function flagValues(
  commander: Commander,
  command: CliCommand,
  env: Io["env"],
): flag.FlagValues<flag.FlagSet> {
  const options = commander.opts<Record<string, unknown>>();
  const isGiven = (attribute: string) => commander.getOptionValueSource(attribute) === "cli";
  const values: Record<string, unknown> = {};
  for (const [index, [name, { variables, read, conflicts }]] of Object.entries(
    allFlagsOf(command),
  ).entries()) {
    const option = commander.options[index] as Option;
    const attribute = option.attributeName();
    const variable = variables.find((one) => (env[one] ?? "") !== "");
    if (isGiven(attribute)) values[name] = options[attribute];
    // A flag on the command line overrides a variable that conflicts with it.
    else if (variable !== undefined && !conflicts.some(isGiven)) {
      const value = read(env[variable] as string, variable);
      values[name] = option.negate ? !value : value;
    }
  }
  return values;
}

function configure(commander: Commander, io: Io): Commander {
  return commander
    .exitOverride()
    .helpOption("-h, --help", "print this help")
    .configureHelp({
      styleTitle: (title) => (title === "Options:" ? "Flags:" : title),
      subcommandTerm: (one) => `${one.name()} ${one.usage()}`.replace(" [flags]", ""),
    })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // Errors are printed where they are caught.
      outputError: () => {},
      getOutHelpWidth: () => helpWidth,
      getOutHasColors: () => false,
    });
}

function exampleText(examples: CliCommand["examples"], { program }: Io): string {
  const comments = Object.entries(examples).map(([line, does]) => [
    line.replaceAll("svc-sandbox", program),
    `# ${does}`,
  ]);
  const beside = alignColumns(comments);
  const fits = beside.every((line) => line.length <= helpWidth - 2);
  const lines = fits ? beside : comments.flatMap(([line = "", comment = ""]) => [comment, line]);
  return ["Examples:", ...lines.map((line) => `  ${line}`)].join("\n");
}

function throwUnknownWord(word: string | undefined, io: Io): void {
  if (word === undefined || word === stdinName || isScenarioName(word) || existsSync(resolve(io.cwd, word)))
    return;
  if (!/[\\/]|\.ya?ml$/i.test(word)) throw unknownWord(word, io);
}

/** Words of other tools, and of things that are not commands. */
const otherWords: Readonly<Record<string, string>> = {
  organizations: "fixtures organizations",
  farmers: "fixtures farmers",
  check: "compare <base-url>, or validate <file>",
  run: "exec -- npm test",
  test: "exec -- npm test",
  serve: "start",
  server: "start",
};

function unknownWord(word: string, { program, cwd }: Io): SandboxError {
  const names = Object.keys(commands);
  // In `svc-sandbox --json list`, the flags belong to the default command, and the command looks like its scenario.
  if (names.includes(word)) {
    return usageError(
      `${quote(word)} is a command, not a scenario. Put the command before its flags: ${program} ${word} …`,
    );
  }
  const otherWord = Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
  const file = similarFile(word, cwd);
  const hint = otherWord
    ? ` Did you mean ${program} ${otherWord}?`
    : didYouMean(word, [...names, ...Object.keys(bundledScenarios)]) ||
      (file && ` Did you mean ${quote(file)}?`);
  return usageError(
    `${quote(word)} is not a command, a bundled scenario or a file here.${hint ?? ""}\nRun \`${program} --help\` for the commands, or \`${program} list\` for the bundled scenarios.`,
  );
}

/** `npx` and npm scripts set `npm_command`. Without `--no-install`, `npx` would download any package of this name. */
function programIn({ npm_command: command }: Io["env"]): string {
  if (isExecutable()) return shellWord(process.argv0);
  return command === undefined ? "svc-sandbox" : "npx --no-install svc-sandbox";
}
