import { Command as Commander, CommanderError, Option } from "commander";
import { version } from "../node/package-files.js";
import { shellWord } from "../report/curl-line.js";
import { alignColumns } from "../report/plain-text.js";
import type { CliCommand } from "./command.js";
import { commands, loadCommand } from "./commands.js";
import { describeFailure, exitCode, exitCodeOf, usageError } from "./exit-codes.js";
import * as flag from "./flags.js";
import { type HostIo, type Io, isExecutable, splitAtDashes, wantedErrorForm } from "./io.js";
import { namesScenario, readCall, readLine } from "./line.js";
import { withVerbose } from "./shared-flags.js";
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
export async function cli(argv: readonly string[], hostIo: HostIo): Promise<number> {
  // `npx` and npm scripts set `npm_command`. Without `--no-install`, `npx` would download any package of this name.
  let program = "svc-sandbox";
  if (isExecutable()) program = shellWord(process.argv0);
  else if (hostIo.env.npm_command !== undefined) program = "npx --no-install svc-sandbox";
  // A copy would read `stdin`, which opens it.
  const io: Io = Object.assign(Object.create(hostIo), {
    stdout: createPrinter(hostIo.stdout, hostIo.env),
    stderr: createPrinter(hostIo.stderr, hostIo.env),
    program,
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

async function run(argv: readonly string[], io: Io): Promise<number> {
  // `help exec` is about the command exec, as `exec --help` is.
  const isHelp = argv[0] === "help";
  const line = await readLine(isHelp ? argv.slice(1) : argv, io);
  const { name, command, hasName, words, clientCommand } = line;

  const [firstWord] = words;
  const isOfClient =
    command.takesClientCommand === true &&
    clientCommand === undefined &&
    firstWord !== undefined &&
    !firstWord.startsWith("-") &&
    !namesScenario(firstWord, io);
  // In `exec pytest -v`, the flag is one of pytest: it would print our version, and no test would run.
  if (!isHelp && isOfClient) throw (await import("./wrong-words.js")).missingDashesError(name, words, io);

  const { argvBeforeDashes } = splitAtDashes(argv);
  const hasWord = (...wanted: string[]) => argvBeforeDashes.some((word) => wanted.includes(word));
  if (hasWord("-v", "--version")) {
    io.stdout.write(`${version}\n`);
    return exitCode.fine;
  }
  const parser = createParser(name, command, hasWord("--all"), io);
  if (isHelp || hasWord("-h", "--help")) {
    // `help key-states` is about the default command.
    const hasTopic = hasName || (isHelp && words.length > 0 && !words[0]?.startsWith("-"));
    const shown = hasTopic ? parser : await createProgram(io);
    shown.outputHelp();
    return exitCode.fine;
  }

  try {
    parser.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw (await import("./wrong-words.js")).parsingError(error, line, io);
  }
  const { mode, args, flags } = await readCall(line, parser, io);
  const fullArgv = hasName ? argv : [name, ...argv];
  const code = await command.run({ mode, args, flags, clientCommand: clientCommand ?? [], fullArgv, io });
  return code ?? exitCode.fine;
}
/** The program, for its help: with all commands. */
async function createProgram(io: Io): Promise<Commander> {
  // Who has only the executable has no files of the package.
  let forAgents =
    "Coding agents: read AGENTS.md in the package first (3 kB; node_modules/svc-sandbox/AGENTS.md).";
  if (isExecutable()) {
    forAgents = `Coding agents: \`${io.program} init --agent\` writes what to read first (3 kB).`;
  }
  const notes = rootNotes.replaceAll("svc-sandbox", io.program);
  const program = configure(new Commander(io.program), io)
    .description(
      `A sandbox of the relying-party API: every key state, limit and error, the same way each time.\n\n${forAgents}`,
    )
    .usage("[command] [scenario] [flags]")
    .helpCommand("help [command]", "print the help of a command")
    .version(version, "-v, --version", "print the version")
    .addHelpText("after", `\n${exampleText(rootExamples, io)}\n\n${notes}`);
  for (const name of Object.keys(commands)) {
    const command = await loadCommand(name);
    program.addCommand(new Commander(name).summary(command.summary).usage(usageOf(command)));
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

/** What reads the words of a command, and prints its help: the usual flags of a command that has many, or all. */
function createParser(name: string, command: CliCommand, showsAllFlags: boolean, io: Io): Commander {
  const { usualFlags = [] } = command;
  const allFlags = withVerbose(command.flags);
  let shownFlags: readonly string[] = usualFlags;
  if (showsAllFlags || usualFlags.length === 0) shownFlags = Object.keys(allFlags);
  const hidden = Object.keys(allFlags).length - shownFlags.length;
  const more = hidden === 0 ? "" : `\n${hidden} more flags: ${io.program} ${name} --help --all\n`;

  const parser = configure(new Commander(`${io.program} ${name}`), io)
    .description(command.description)
    .usage(usageOf(command))
    // `readCall` has a better message.
    .allowExcessArguments(true)
    .addHelpText("after", () => `${more}\n${exampleText(command.examples, io)}`);
  for (const [spec, text] of Object.entries(command.args ?? {})) {
    const { variableOfArgument } = command;
    parser.argument(spec, variableOfArgument === undefined ? text : `${text} [${variableOfArgument}]`);
  }
  for (const [flagName, declared] of Object.entries(allFlags)) {
    parser.addOption(createOption(declared).hideHelp(!shownFlags.includes(flagName)));
  }
  return parser;
}

function usageOf({ args = {}, takesClientCommand }: CliCommand): string {
  const words = [...Object.keys(args), "[flags]"];
  if (takesClientCommand) words.push("--", "<command...>");
  return words.join(" ");
}

function createOption(declared: flag.Flag<unknown>): Option {
  const { spec, help, variables, conflicts } = declared;
  const withVariables = variables.length === 0 ? help : `${help} [${variables.join(", ")}]`;
  const option = new Option(spec, withVariables).conflicts([...conflicts]);
  const hasValue = spec.includes("<");
  // Without this, Commander would set `control` to false for `--no-control`.
  if (!hasValue) return option.preset(true);

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
    // A comment may name the command that ends what the line starts. `svc-sandbox.yaml` is a file.
    const comment = does.replaceAll("svc-sandbox ", `${io.program} `);
    rows.push([line.replaceAll("svc-sandbox", io.program), `# ${comment}`]);
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
