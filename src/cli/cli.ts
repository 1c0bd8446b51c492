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
  const [ownWords, rest] = splitAtDashes(argv);
  // `help exec` needs the command exec, too.
  const word = ownWords[0] === "help" ? ownWords[1] : ownWords[0];
  const names = Object.keys(commands);
  const namesCommand = word !== undefined && names.includes(word);
  if (!namesCommand && !word?.startsWith("-")) requireScenario(word, io);

  // Without the name of a command, it is a call of the first one.
  const name = namesCommand ? word : (names[0] as string);
  const command = await load(name);
  // The help of the program shows the summary of each command.
  const listsAll = !namesCommand && ownWords.some((one) => ["help", "-h", "--help"].includes(one));
  const program = await programOf(name, listsAll, ownWords, io);
  const commander = program.commands.find((one) => one.name() === name) as Commander;
  let code: number = exitCode.fine;
  commander.action(async () => {
    const { args: words } = commander;
    if (!namesCommand) requireScenario(words[0], io);
    if (command.rest !== undefined) {
      const expected = Object.keys(command.words ?? {}).length;
      if (words.length > expected) throw lacksDashes(name, words, io);
      if (rest.length === 0) throw lacksCommand(name, words, argv, io);
    }
    await warnOfVariables(command, io);

    // A background start repeats the line, with the name of the command.
    const line = namesCommand ? argv : [name, ...argv];
    const flags = flagValues(commander, command, io.env);
    const result = await command.run({ words, flags, line, rest, io });
    code = result ?? exitCode.fine;
  });

  // What follows `--` is not for Commander, if the command takes a command line.
  const readWords = command.rest === undefined ? argv : ownWords;
  try {
    await program.parseAsync([...readWords], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // It has printed the help or the version.
    if (error.exitCode === 0) return code;
    const sentence = unknownFlag(error, command, argv) ?? commanderSentence(error);
    throw misread(name, sentence, io);
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
  const showsAllFlags = argv.includes("--all");
  for (const [index, commandName] of Object.keys(commands).entries()) {
    let commander = new Commander(commandName);
    if (commandName === name || listsAll) {
      commander = commanderOf(commandName, await load(commandName), io, showsAllFlags);
    }
    program.addCommand(commander, { isDefault: index === 0 });
  }
  return program;
}

/** Commander's message as a sentence, with its suggestion in the same line. */
function commanderSentence(error: CommanderError): string {
  const text = error.message.replace(/^error: /, "").replace(/\n\((.*)\)$/, ". $1");
  const sentence = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** The sentence about an unknown flag, if more can be said than Commander does: it also calls one with a needless value unknown. */
function unknownFlag(
  error: CommanderError,
  command: CliCommand,
  argv: readonly string[],
): string | undefined {
  const [, long, end] = /^error: unknown option '--([a-z-]+)(['=])/.exec(error.message) ?? [];
  if (long === undefined) return undefined;

  const names = ["help", "version"];
  for (const { spec } of Object.values(allFlagsOf(command))) names.push(flag.longForm(spec).slice(2));
  if (end === "=" && names.includes(long)) {
    return `--${long} accepts no value. Write --${long}, or leave it out.`;
  }
  // Without `--`, it may be a flag of the user's command.
  if (command.rest !== undefined && !argv.includes("--")) return undefined;

  // People leave out words, as in --coverage.
  const meant: string[] = [];
  for (const name of names) {
    const words = name.split("-");
    if (long.split("-").every((word) => words.includes(word))) meant.push(`--${name}`);
  }
  if (meant.length === 0) return undefined;
  return `Unknown option '--${long}'. Did you mean ${listed(meant, "or")}?`;
}

const variablePrefix = "SVC_SANDBOX_";

// Ignores variables of other programs or other versions.
async function warnOfVariables(command: CliCommand, io: Io): Promise<void> {
  const names = Object.keys(io.env).filter((name) => name.startsWith(variablePrefix));
  const ownVariables = variablesOfFlags(command);
  const others = names.filter((name) => !ownVariables.includes(name));
  // Usually there are none, and loading every command takes long.
  if (others.length === 0) return;

  const variables: string[] = [];
  for (const name of Object.keys(commands)) variables.push(...variablesOfFlags(await load(name)));
  const ofSandbox = variables.filter((name) => name.startsWith(variablePrefix));
  const suffixes = ofSandbox.map((name) => name.slice(variablePrefix.length));
  for (const name of others) {
    if (variables.includes(name)) continue;
    const meant = nearest(name.slice(variablePrefix.length), suffixes);
    if (meant === undefined) continue;
    io.stderr.say(`Warning: ${name} has no effect. Did you mean ${variablePrefix}${meant}?\n`);
  }
}

function variablesOfFlags(command: CliCommand): string[] {
  return Object.values(allFlagsOf(command)).flatMap((declared) => declared.variables);
}

function load(name: string): Promise<CliCommand> {
  return commands[name]?.() as Promise<CliCommand>;
}

function lacksDashes(name: string, words: readonly string[], io: Io): SandboxError {
  const [first = "", ...moreWords] = words;
  const isScenario = isScenarioName(first) || /\.ya?ml$/i.test(first);
  const before = isScenario ? `${name} ${commandLine([first])}` : name;

  // Words with a flag among them may not be meant as one command line.
  const command = isScenario ? moreWords : words;
  const isPlain = command.length > 0 && command.every((word) => !word.startsWith("-"));
  const behind = isPlain ? commandLine(command) : "npm test";
  return misread(name, `${name} needs -- before your command: ${io.program} ${before} -- ${behind}`, io);
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

function commanderOf(name: string, command: CliCommand, io: Io, showsAllFlags: boolean): Commander {
  const { words = {}, rest, usualFlags = [] } = command;
  const allFlags = allFlagsOf(command);
  let shownFlags: readonly string[] = usualFlags;
  if (showsAllFlags || usualFlags.length === 0) shownFlags = Object.keys(allFlags);
  const hidden = Object.keys(allFlags).length - shownFlags.length;
  const more = hidden === 0 ? "" : `\n${hidden} more flags: ${io.program} ${name} --help --all\n`;

  const usage = [...Object.keys(words), "[flags]"];
  if (rest !== undefined) usage.push("--", rest);
  const commander = configure(new Commander(name), io)
    .summary(command.summary)
    .description(command.description)
    .usage(usage.join(" "))
    // Such a command has its own message.
    .allowExcessArguments(rest !== undefined)
    .addHelpText("after", () => `${more}\n${exampleText(command.examples, io)}`);
  for (const [spec, text] of Object.entries(words)) commander.argument(spec, text);
  for (const [attribute, declared] of Object.entries(allFlags)) {
    commander.addOption(optionOf(declared).hideHelp(!shownFlags.includes(attribute)));
  }
  return commander;
}

function allFlagsOf({ flags }: CliCommand): flag.FlagSet {
  return { ...flags, verbose: "log" in flags ? flag.verboseLog : flag.verbose };
}

function optionOf(declared: flag.Flag<unknown>): Option {
  const { spec, text, variables, conflicts } = declared;
  const withVariables = variables.length === 0 ? text : `${text} [${variables.join(", ")}]`;
  const option = new Option(spec, withVariables).conflicts([...conflicts]);
  if (!spec.includes("<")) return option;

  const name = flag.longForm(spec);
  return option.argParser<unknown>((value, previous) => {
    const latest = declared.read(value, name);
    if (previous === undefined) return latest;
    if (Array.isArray(latest) && Array.isArray(previous)) return [...previous, ...latest];
    throw usageError(`${name} appears more than once. Keep one.`);
  });
}

// Commander also reads variables, but treats an empty value and `0` as set, and allows only one per option.
function flagValues(
  commander: Commander,
  command: CliCommand,
  env: Io["env"],
): flag.FlagValues<flag.FlagSet> {
  const given = commander.opts<Record<string, unknown>>();
  const isGiven = (attribute: string) => commander.getOptionValueSource(attribute) === "cli";

  const values: Record<string, unknown> = {};
  let index = 0;
  for (const [name, { variables, read, conflicts }] of Object.entries(allFlagsOf(command))) {
    // Commander's options are in the same order.
    const option = commander.options[index] as Option;
    index += 1;
    const attribute = option.attributeName();
    if (isGiven(attribute)) {
      values[name] = given[attribute];
      continue;
    }
    const variable = variables.find((one) => (env[one] ?? "") !== "");
    // A flag on the command line overrides a variable that conflicts with it.
    if (variable === undefined || conflicts.some(isGiven)) continue;
    const value = read(env[variable] as string, variable);
    values[name] = option.negate ? !value : value;
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

function exampleText(examples: CliCommand["examples"], io: Io): string {
  const rows: [line: string, comment: string][] = [];
  for (const [line, does] of Object.entries(examples)) {
    rows.push([line.replaceAll("svc-sandbox", io.program), `# ${does}`]);
  }

  let lines = alignColumns(rows);
  const isTooWide = lines.some((line) => line.length > helpWidth - 2);
  if (isTooWide) {
    lines = [];
    for (const [line, comment] of rows) lines.push(comment, line);
  }
  return ["Examples:", ...lines.map((line) => `  ${line}`)].join("\n");
}

/** Throws a usage error if the word cannot be the scenario of a call without a command. */
function requireScenario(word: string | undefined, io: Io): void {
  if (word === undefined || word === stdinName || isScenarioName(word)) return;
  if (existsSync(resolve(io.cwd, word))) return;
  // A file that is missing has its own message.
  const looksLikeFile = /[\\/]|\.ya?ml$/i.test(word);
  if (!looksLikeFile) throw unknownWord(word, io);
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

function unknownWord(word: string, io: Io): SandboxError {
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

/** A hint as a sentence, or nothing: the word of another tool, a similar name, or a similar file. */
function whatIsMeant(word: string, { program, cwd }: Io): string {
  const otherWord = Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
  if (otherWord !== undefined) return ` Did you mean ${program} ${otherWord}?`;

  const hint = didYouMean(word, [...Object.keys(commands), ...Object.keys(bundledScenarios)]);
  if (hint !== "") return hint;
  const file = similarFile(word, cwd);
  return file ? ` Did you mean ${quote(file)}?` : "";
}

/** `npx` and npm scripts set `npm_command`. Without `--no-install`, `npx` would download any package of this name. */
function programIn({ npm_command: command }: Io["env"]): string {
  if (isExecutable()) return shellWord(process.argv0);
  return command === undefined ? "svc-sandbox" : "npx --no-install svc-sandbox";
}
