import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command as Commander, CommanderError, Option } from "commander";
import { stdinName } from "../node/files/load-scenario.js";
import { version } from "../node/package-files.js";
import { alignColumns, commandLine } from "../report/plain-text.js";
import type { SandboxError } from "../rules/errors.js";
import { didYouMean, listed, nearest, quote } from "../rules/schema/words.js";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import type { CliCommand } from "./command.js";
import { commands } from "./commands.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "./exit-codes.js";
import * as flag from "./flags.js";
import { errorFormOf, type GivenIo, type Io, programIn, splitAtDashes } from "./io.js";
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
export async function cli(argv: readonly string[], given: GivenIo): Promise<number> {
  const program = programIn(given.env);
  // Not a copy, which would open stdin.
  const io: Io = Object.assign(Object.create(given), {
    stdout: createPrinter(given.stdout, given.env),
    stderr: createPrinter(given.stderr, given.env),
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
  const [first = ""] = before;
  const asks = (...flags: string[]) => before.some((word) => flags.includes(word));
  const asksHelp = asks("-h", "--help");
  if (asks("-V", "-v", "--version") || first === "version") {
    io.stdout.write(`${version}\n`);
    return exitCode.fine;
  }
  if (first === "help") return printHelpOf(before[1], io, before.slice(2));
  const implied = !Object.hasOwn(commands, first);
  if (implied && asksHelp) {
    const [standard = ""] = Object.keys(commands);
    await checkHelpFlags(standard, await load(standard, io), before, io);
    return printHelpOf(undefined, io);
  }
  const [name, given] = implied ? [Object.keys(commands)[0] as string, argv] : [first, argv.slice(1)];
  const command = await load(name, io);
  const { rest: needed } = command;
  if (needed?.startsWith("<") && behind.length === 0 && !asksHelp) {
    throw lacksDashes(name, given, io);
  }
  const parsed = await parse(name, command, needed === undefined ? given : before.slice(1), { io, implied });
  if (parsed === undefined) return exitCode.fine;
  await warnOfVariables(command, io);
  return command.run({ ...parsed, line: [name, ...given], rest: behind, io });
}

async function printHelpOf(name: string | undefined, io: Io, more: readonly string[] = []): Promise<number> {
  if (name === undefined || name === "help" || name.startsWith("-")) await printHelp(io);
  else await parse(name, await load(name, io), ["--help", ...more], { io });
  return exitCode.fine;
}

// Ignores variables of other programs or other versions.
async function warnOfVariables(command: CliCommand, io: Io): Promise<void> {
  const { env, stderr } = io;
  const prefix = "SVC_SANDBOX_";
  const variablesOf = ({ flags }: CliCommand) =>
    Object.values({ ...flags, verbose: flag.verbose }).flatMap((one) => one.variables);
  const unknownTo = (known: readonly string[], names: readonly string[]) =>
    names.filter((name) => name.startsWith(prefix) && !known.includes(name));
  const names = unknownTo(variablesOf(command), Object.keys(env));
  // Usually there are none, and loading every command takes long.
  if (names.length === 0) return;
  const loadedCommands = await Promise.all(Object.keys(commands).map((name) => load(name, io)));
  const variables = loadedCommands.flatMap(variablesOf);
  const suffixes = variables.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  for (const name of unknownTo(variables, names)) {
    const meant = nearest(name.slice(prefix.length), suffixes);
    if (meant !== undefined) stderr.say(`Warning: ${name} has no effect. Did you mean ${prefix}${meant}?\n`);
  }
}

async function load(name: string, io: Io): Promise<CliCommand> {
  if (!Object.hasOwn(commands, name)) throw unknownWord(name, io);
  return commands[name]?.() as Promise<CliCommand>;
}

/** Flags that are not set come from the environment. `undefined` if it has printed the help. */
async function parse(
  name: string,
  command: CliCommand,
  argv: readonly string[],
  { io, implied = false }: { readonly io: Io; readonly implied?: boolean },
) {
  // Before its flags, which may be those of another command.
  if (implied && !argv[0]?.startsWith("-")) rejectUnknownWord(argv[0], io);
  await checkHelpFlags(name, command, argv, io);
  const commander = commanderOf(`${io.program} ${name}`, command, io, argv.includes("--all"));
  try {
    commander.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw misread(name, await sentenceOf(error, name, command, argv), io);
  }
  const { args: words } = commander;
  if (implied) rejectUnknownWord(words[0], io);
  const specs = Object.keys(command.words ?? {});
  const excess = words[specs.length];
  if (excess !== undefined && command.rest !== undefined) throw lacksDashes(name, words, io);
  if (excess !== undefined && !specs.at(-1)?.includes("...")) {
    const accepted = specs.join(" ") || "no words";
    throw misread(name, `Unexpected argument ${JSON.stringify(excess)}: ${name} accepts ${accepted}.`, io);
  }
  return { words, flags: flagValues(commander, command, io.env) };
}

/** Rejects unknown flags next to `--help`, which Commander would not read. */
async function checkHelpFlags(
  name: string,
  command: CliCommand,
  argv: readonly string[],
  io: Io,
): Promise<void> {
  const helpFlags = ["-h", "--help", "--all"];
  if (!argv.some((word) => helpFlags.slice(0, 2).includes(word))) return;
  const others = argv.filter((word) => !helpFlags.includes(word));
  const [unknown] = commanderOf(name, command, io).parseOptions(others).unknown;
  if (unknown !== undefined) throw misread(name, await unknownFlag(unknown, name, command), io);
}

function lacksDashes(name: string, words: readonly string[], io: Io): SandboxError {
  const isPlain = words.length > 0 && words.every((word) => !word.startsWith("-"));
  const example = isPlain ? commandLine(words) : "npm test";
  return misread(name, `${name} needs -- before your command: ${io.program} ${name} -- ${example}`, io);
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

async function printHelp(io: Io): Promise<void> {
  const notes = rootNotes.replaceAll("svc-sandbox", io.program);
  const program = configure(new Commander(io.program), io)
    .description(
      "A sandbox of the relying-party API: every key state, limit and error, the same way each time.\n\nCoding agents: read AGENTS.md in the package first (3 kB; node_modules/svc-sandbox/AGENTS.md).",
    )
    .usage("[command] [scenario] [flags]")
    .helpCommand("help [command]", "print the help of a command")
    .option("-V, --version", "print the version")
    .addHelpText("after", `\n${exampleText(rootExamples, io)}\n\n${notes}`);
  for (const [name, load] of Object.entries(commands)) {
    program.addCommand(commanderOf(name, await load(), io));
  }
  program.outputHelp();
}

function commanderOf(name: string, command: CliCommand, io: Io, showsAll = true): Commander {
  const { summary, description, words = {}, rest, examples, usual = [] } = command;
  const shownFlags: readonly string[] =
    showsAll || usual.length === 0 ? Object.keys(flagsOf(command)) : usual;
  const hidden = Object.keys(flagsOf(command)).length - shownFlags.length;
  const more = hidden === 0 ? "" : `\n${hidden} more flags: ${name} --help --all\n`;
  const usage = [...Object.keys(words), "[flags]", ...(rest === undefined ? [] : ["--", rest])];
  const commander = configure(new Commander(name), io)
    .summary(summary)
    .description(description)
    .usage(usage.join(" "))
    // The message shows the unexpected argument.
    .allowExcessArguments(true)
    .addHelpText("after", () => `${more}\n${exampleText(examples, io)}`);
  for (const [spec, text] of Object.entries(words)) commander.argument(spec, text);
  for (const [attribute, declared] of Object.entries(flagsOf(command))) {
    commander.addOption(optionOf(declared).hideHelp(!shownFlags.includes(attribute)));
  }
  return commander;
}

function flagsOf({ flags }: CliCommand): flag.FlagSet {
  return { ...flags, verbose: flag.verbose };
}

function optionOf({ spec, text, variables, read, conflicts }: flag.Flag<unknown>): Option {
  const also = variables.length === 0 ? "" : ` [${variables.join(", ")}]`;
  const option = new Option(spec, text + also).conflicts([...conflicts]);
  if (!spec.includes("<")) return option;
  return option.argParser<unknown>((value, previous) => {
    const found = read(value, flag.longForm(spec));
    if (previous === undefined) return found;
    if (Array.isArray(found) && Array.isArray(previous)) return [...previous, ...found];
    throw usageError(`${flag.longForm(spec)} appears more than once. Keep one.`);
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
  for (const [index, [name, { variables, read, conflicts }]] of Object.entries(flagsOf(command)).entries()) {
    const option = commander.options[index] as Option;
    const attribute = option.attributeName();
    const variable = variables.find((one) => (env[one] ?? "") !== "");
    if (isGiven(attribute)) values[name] = given[attribute];
    // A flag on the command line overrides a variable that conflicts with it.
    else if (variable !== undefined && !conflicts.some(isGiven)) {
      const value = read(env[variable] as string, variable);
      values[name] = option.negate ? !value : value;
    }
  }
  return values;
}

/** What to write in place of a flag that people expect. */
function insteadOf(long: string, name: string, { rest }: CliCommand, value = "revoked"): string | undefined {
  const behind = rest === undefined ? "" : " -- npm test";
  if (long === "--scenario")
    return `write the scenario without a flag, as in \`svc-sandbox ${name} ${value}${behind}\``;
  return name === "exec" && long === "--json" ? "use --format json" : undefined;
}

async function commandsWith(long: string): Promise<string[]> {
  const has = async ([name, load]: (typeof entries)[number]) =>
    Object.values((await load()).flags).some(({ spec }) => flag.longForm(spec) === long) ? [name] : [];
  const entries = Object.entries(commands);
  return (await Promise.all(entries.map(has))).flat();
}

async function sentenceOf(
  { message, code }: CommanderError,
  name: string,
  command: CliCommand,
  argv: readonly string[],
): Promise<string> {
  if (code === "commander.unknownOption") {
    return unknownFlag(message.replace(/^error: unknown option '(.*)'$/, "$1"), name, command, argv);
  }
  const text = message
    .replace(/^error: /, "")
    .replace(/^missing required argument '(.*)'/, "Missing argument <$1>")
    .replace(/^option '(.*)' argument missing/, "$1 needs a value");
  const sentence = /[.?]$/.test(text) ? text : `${text}.`;
  return code === "commander.conflictingOption" ? `${sentence} Leave one out.` : sentence;
}

/** `given` may have its value: `--scenario=expired`. */
async function unknownFlag(
  given: string,
  name: string,
  command: CliCommand,
  argv: readonly string[] = [],
): Promise<string> {
  const [long = "", value = argv[argv.indexOf(given) + 1]] = given.split("=");
  const instead = insteadOf(
    long,
    name,
    command,
    value !== undefined && isScenarioName(value) ? value : undefined,
  );
  if (instead !== undefined) return `${name} has no ${long}: ${instead}.`;
  const knownFlags = [
    ...Object.values(flagsOf(command)).map(({ spec }) => flag.longForm(spec)),
    "--version",
    "--help",
  ];
  if (knownFlags.includes(long)) return `${long} has no value: write ${long}, or leave it out.`;
  const others = await commandsWith(long);
  if (others.length > 0 && others.length < 5)
    return `${name} has no ${long}: it is a flag of ${listed(others, "and")}.`;
  const meant = nearest(long, knownFlags);
  return `Unknown flag ${long}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
}

function configure(commander: Commander, io: Io): Commander {
  return commander
    .exitOverride()
    .showSuggestionAfterError(false)
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

function rejectUnknownWord(word: string | undefined, io: Io): void {
  if (word === undefined || word === stdinName || isScenarioName(word) || existsSync(resolve(io.cwd, word)))
    return;
  if (!/[\\/]|\.ya?ml$/i.test(word)) throw unknownWord(word, io);
}

/** Words of other tools, and of things that are not commands. */
const otherWords: Readonly<Record<string, string>> = {
  organizations: "fixtures organizations",
  farmers: "fixtures farmers",
  run: "exec -- npm test",
  test: "exec -- npm test",
  serve: "start",
  server: "start",
};

function unknownWord(word: string, { program }: Io): SandboxError {
  const names = Object.keys(commands);
  // In `svc-sandbox --json list`, the flags belong to the default command, and the command looks like its scenario.
  if (names.includes(word)) {
    return usageError(
      `${quote(word)} is a command, not a scenario. Put the command before its flags: ${program} ${word} …`,
    );
  }
  const otherWord = Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
  const hint = otherWord
    ? ` Did you mean ${program} ${otherWord}?`
    : didYouMean(word, [...names, ...Object.keys(bundledScenarios)]);
  return usageError(
    `${quote(word)} is not a command, a bundled scenario or a file here.${hint}\nRun \`${program} --help\` for the commands, or \`${program} list\` for the bundled scenarios.`,
  );
}
