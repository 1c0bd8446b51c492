import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command as Commander, CommanderError, Option } from "commander";
import { similarFile, stdinName } from "../node/files/load-scenario.js";
import { version } from "../node/package-files.js";
import { isExecutable } from "../node/platform.js";
import { alignColumns, commandLine, shellWord } from "../report/plain-text.js";
import type { SandboxError } from "../rules/errors.js";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import { didYouMean, listed, nearest, quote } from "../schema/words.js";
import type { CliCommand } from "./command.js";
import { commands } from "./commands.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "./exit-codes.js";
import * as flag from "./flags.js";
import { type HostIo, type Io, splitAtDashes, wantedErrorForm } from "./io.js";
import { readCall } from "./read-call.js";
import { createPrinter } from "./terminal.js";

export { setPackageReader } from "../node/package-files.js";
export type { Io } from "./io.js";
export { processIo } from "./io.js";

/** The command of a line that names none. */
const defaultCommand = "start";

/** A command line in its parts, and the command that it calls. */
interface CommandLine {
  readonly name: string;
  readonly command: CliCommand;
  /** Whether the line has the name of the command: one without it calls the default command. */
  readonly hasName: boolean;
  /** All words after the program. */
  readonly argv: readonly string[];
  /** The words before `--`. */
  readonly ownArgv: readonly string[];
  /** The words after `--`: the command line of a client. */
  readonly clientCommand: readonly string[];
}

/**
 * Runs one command line (without `node` and the script) and resolves to its exit code. Never throws.
 *
 * @example
 * process.exitCode = await cli(process.argv.slice(2), processIo(process));
 */
export async function cli(argv: readonly string[], hostIo: HostIo): Promise<number> {
  // A copy would read `stdin`, which opens it.
  const io: Io = Object.assign(Object.create(hostIo), {
    stdout: createPrinter(hostIo.stdout, hostIo.env),
    stderr: createPrinter(hostIo.stderr, hostIo.env),
    program: programName(hostIo.env),
  });
  try {
    return await run(argv, io);
  } catch (error) {
    const form = wantedErrorForm(argv, io.env);
    const text = describeFailure(error, form);
    // A line of JSON stays a line.
    if (form.json) io.stderr.write(text);
    else io.stderr.say(text);
    return exitCodeOf(error);
  }
}

/** `npx` and npm scripts set `npm_command`. Without `--no-install`, `npx` would download any package of this name. */
function programName({ npm_command: command }: Io["env"]): string {
  if (isExecutable()) return shellWord(process.argv0);
  return command === undefined ? "svc-sandbox" : "npx --no-install svc-sandbox";
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const line = await readLine(argv, io);
  const program = await createProgram(line, io);

  // Commander reads the flags, and calls the command.
  const commander = program.commands.find((one) => one.name() === line.name) as Commander;
  let code: number = exitCode.fine;
  commander.action(async () => {
    code = await callCommand(line, commander, io);
  });

  const takesClientCommand = line.command.clientCommandUsage !== undefined;
  const readByCommander = takesClientCommand ? line.ownArgv : argv;
  try {
    await program.parseAsync([...readByCommander], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has printed the help or the version.
    if (error.exitCode === 0) return code;
    const sentence = unknownFlagSentence(error, line) ?? commanderSentence(error);
    throw wrongUsage(line.name, sentence, io);
  }
  return code;
}

/** Throws a usage error if the line names no command, and its first word cannot be the scenario of the default one. */
async function readLine(argv: readonly string[], io: Io): Promise<CommandLine> {
  const { ownArgv, clientCommand } = splitAtDashes(argv);
  // `help exec` names the command exec, too.
  const word = ownArgv[0] === "help" ? ownArgv[1] : ownArgv[0];
  const hasName = word !== undefined && Object.hasOwn(commands, word);
  if (!hasName && !word?.startsWith("-")) requireScenario(word, io);

  const name = hasName ? word : defaultCommand;
  const command = await loadCommand(name);
  return { name, command, hasName, argv, ownArgv, clientCommand };
}

function loadCommand(name: string): Promise<CliCommand> {
  return commands[name]?.() as Promise<CliCommand>;
}

/** Throws a usage error if the word cannot be the scenario of a call without a command. */
function requireScenario(word: string | undefined, io: Io): void {
  if (word === undefined || word === stdinName || isScenarioName(word)) return;
  if (existsSync(resolve(io.cwd, word))) return;
  // A file that is missing has its own message.
  const looksLikeFile = /[\\/]|\.ya?ml$/i.test(word);
  if (!looksLikeFile) throw unknownWord(word, io);
}

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

/** What to write in place of words that are no commands: those of other tools, and of things. */
const otherWords: Readonly<Record<string, string>> = {
  organizations: "fixtures organizations",
  farmers: "fixtures farmers",
  check: "compare <base-url>, or validate <file>",
  run: "exec -- npm test",
  test: "exec -- npm test",
  serve: "start",
  server: "start",
};

/** A hint as a sentence, or nothing: the word of another tool, a similar name, or a similar file. */
function whatIsMeant(word: string, { program, cwd }: Io): string {
  const otherWord = Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
  if (otherWord !== undefined) return ` Did you mean ${program} ${otherWord}?`;

  const hint = didYouMean(word, [...Object.keys(commands), ...Object.keys(bundledScenarios)]);
  if (hint !== "") return hint;
  const file = similarFile(word, cwd);
  return file ? ` Did you mean ${quote(file)}?` : "";
}

/** Commander's program with all commands. Usually only the called one has its flags and texts: loading every command takes long. */
async function createProgram(line: CommandLine, io: Io): Promise<Commander> {
  // The help of the program shows the summary of each command.
  const asksForHelp = line.ownArgv.some((word) => ["help", "-h", "--help"].includes(word));
  const needsAllCommands = asksForHelp && !line.hasName;
  const showsAllFlags = line.ownArgv.includes("--all");

  const program = createRoot(io);
  for (const name of Object.keys(commands)) {
    let subcommand = new Commander(name);
    if (name === line.name || needsAllCommands) {
      subcommand = createSubcommand(name, await loadCommand(name), showsAllFlags, io);
    }
    program.addCommand(subcommand, { isDefault: name === defaultCommand });
  }
  return program;
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

function createRoot(io: Io): Commander {
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

function createSubcommand(name: string, command: CliCommand, showsAllFlags: boolean, io: Io): Commander {
  const { usualFlags = [] } = command;
  const allFlags = flag.allOf(command.flags);
  let shownFlags: readonly string[] = usualFlags;
  if (showsAllFlags || usualFlags.length === 0) shownFlags = Object.keys(allFlags);
  const hidden = Object.keys(allFlags).length - shownFlags.length;
  const more = hidden === 0 ? "" : `\n${hidden} more flags: ${io.program} ${name} --help --all\n`;

  const argumentTexts = Object.entries(command.args ?? {});
  const usage = [...argumentTexts.map(([spec]) => spec), "[flags]"];
  const takesClientCommand = command.clientCommandUsage !== undefined;
  if (takesClientCommand) usage.push("--", command.clientCommandUsage);
  const commander = configure(new Commander(name), io)
    .summary(command.summary)
    .description(command.description)
    .usage(usage.join(" "))
    // `readCall` has a better message.
    .allowExcessArguments(true)
    .addHelpText("after", () => `${more}\n${exampleText(command.examples, io)}`);
  for (const [spec, text] of argumentTexts) commander.argument(spec, text);
  for (const [flagName, declared] of Object.entries(allFlags)) {
    commander.addOption(createOption(declared).hideHelp(!shownFlags.includes(flagName)));
  }
  return commander;
}

function createOption(declared: flag.Flag<unknown>): Option {
  const { spec, text, variables, conflicts } = declared;
  const withVariables = variables.length === 0 ? text : `${text} [${variables.join(", ")}]`;
  const option = new Option(spec, withVariables).conflicts([...conflicts]);
  const hasValue = spec.includes("<");
  if (!hasValue) return option;

  const name = flag.longForm(spec);
  return option.argParser<unknown>((value, previous) => {
    const latest = declared.read(value, name);
    if (previous === undefined) return latest;
    // A flag whose reader returns a list is repeatable.
    if (Array.isArray(latest) && Array.isArray(previous)) return [...previous, ...latest];
    throw usageError(`${name} appears more than once. Keep one.`);
  });
}

/** Each terminal gets the same help, because the documentation contains it. */
const helpWidth = 80;

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
    // Comments beside the lines would be too wide: they stand above them.
    lines = [];
    for (const [line, comment] of rows) lines.push(comment, line);
  }
  return ["Examples:", ...lines.map((line) => `  ${line}`)].join("\n");
}

/** Runs the command once Commander has read its arguments and flags; resolves to its exit code. */
async function callCommand(line: CommandLine, commander: Commander, io: Io): Promise<number> {
  const { name, command, argv, clientCommand } = line;
  const { args } = commander;
  // In a line that starts with flags, only Commander finds the scenario.
  if (!line.hasName) requireScenario(args[0], io);
  requireClientCommand(line, args, io);
  await warnOfVariables(command, io);

  const { mode, flags } = readCall(name, command, commander, io);
  const fullArgv = line.hasName ? argv : [name, ...argv];
  const code = await command.run({ mode, args, flags, clientCommand, fullArgv, io });
  return code ?? exitCode.fine;
}

/** Throws a usage error if the command takes the command line of a client, and it is not after `--`. */
function requireClientCommand(line: CommandLine, args: readonly string[], io: Io): void {
  const { name, command, argv, clientCommand } = line;
  if (command.clientCommandUsage === undefined) return;

  const expected = Object.keys(command.args ?? {}).length;
  if (args.length > expected || !argv.includes("--")) throw missingDashes(name, args, io);
  if (clientCommand.length > 0) return;
  const example = `${io.program} ${commandLine([name, ...args])} -- npm test`;
  throw wrongUsage(name, `${name} needs a command after --: ${example}`, io);
}

function missingDashes(name: string, args: readonly string[], io: Io): SandboxError {
  const [first = "", ...moreArgs] = args;
  const isScenario = isScenarioName(first) || /\.ya?ml$/i.test(first);
  const before = isScenario ? `${name} ${commandLine([first])}` : name;

  // Words with a flag among them may not be meant as one command line.
  const command = isScenario ? moreArgs : args;
  const isPlain = command.length > 0 && command.every((word) => !word.startsWith("-"));
  const behind = isPlain ? commandLine(command) : "npm test";
  return wrongUsage(name, `${name} needs -- before your command: ${io.program} ${before} -- ${behind}`, io);
}

const variablePrefix = "SVC_SANDBOX_";

/** Warns of variables that may be misspelled. Those of other programs or other versions are ignored. */
async function warnOfVariables(command: CliCommand, io: Io): Promise<void> {
  const names = Object.keys(io.env).filter((name) => name.startsWith(variablePrefix));
  const ownVariables = variablesOfFlags(command);
  const others = names.filter((name) => !ownVariables.includes(name));
  // Usually there are none, and loading every command takes long.
  if (others.length === 0) return;

  const variables: string[] = [];
  for (const name of Object.keys(commands)) variables.push(...variablesOfFlags(await loadCommand(name)));
  const prefixed = variables.filter((name) => name.startsWith(variablePrefix));
  const suffixes = prefixed.map((name) => name.slice(variablePrefix.length));
  for (const name of others) {
    // A variable of another command is not misspelled.
    if (variables.includes(name)) continue;
    const meant = nearest(name.slice(variablePrefix.length), suffixes);
    if (meant === undefined) continue;
    io.stderr.say(`Warning: ${name} has no effect. Did you mean ${variablePrefix}${meant}?\n`);
  }
}

function variablesOfFlags(command: CliCommand): string[] {
  return Object.values(flag.allOf(command.flags)).flatMap((declared) => declared.variables);
}

/** The sentence about an unknown flag, if more can be said than Commander does: it also calls one with a needless value unknown. */
function unknownFlagSentence(error: CommanderError, line: CommandLine): string | undefined {
  const { command, argv } = line;
  const [, long, end] = /^error: unknown option '--([a-z-]+)(['=])/.exec(error.message) ?? [];
  if (long === undefined) return undefined;

  const names = ["help", "version"];
  for (const { spec } of Object.values(flag.allOf(command.flags))) names.push(flag.longForm(spec).slice(2));
  if (end === "=" && names.includes(long)) {
    return `--${long} accepts no value. Write --${long}, or leave it out.`;
  }
  // In a line without `--`, it may be a flag of the client's command.
  if (command.clientCommandUsage !== undefined && !argv.includes("--")) return undefined;

  // People leave out words, as in --coverage.
  const meant: string[] = [];
  for (const name of names) {
    const words = name.split("-");
    if (long.split("-").every((word) => words.includes(word))) meant.push(`--${name}`);
  }
  if (meant.length === 0) return undefined;
  return `Unknown option '--${long}'. Did you mean ${listed(meant, "or")}?`;
}

/** Commander's message as a sentence, with its suggestion in the same line. */
function commanderSentence(error: CommanderError): string {
  const text = error.message.replace(/^error: /, "").replace(/\n\((.*)\)$/, ". $1");
  const sentence = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.?]$/.test(sentence) ? sentence : `${sentence}.`;
}

function wrongUsage(name: string, sentence: string, { program }: Io): SandboxError {
  return usageError(`${sentence}\nRun \`${program} ${name} --help\` for usage.`);
}
