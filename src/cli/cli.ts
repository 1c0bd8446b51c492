import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Command as Commander, CommanderError } from "commander";
import { shellWord } from "../report/curl-line.js";
import { commands } from "./commands.js";
import { isExecutable } from "./executable.js";
import { describeFailure, exitCode, exitCodeOf } from "./exit-codes.js";
import { isPort } from "./flags/readers.js";
import { type HostIo, type Io, splitAtDashes, wantedErrorForm } from "./io.js";
import { requireClientCommand } from "./line/client-command.js";
import { type CommandLine, defaultCommand, loadCommand } from "./line/command-line.js";
import { createProgram } from "./line/help.js";
import { readCall } from "./line/read-call.js";
import { warnOfVariables } from "./line/unknown-variables.js";
import { createPrinter } from "./output/terminal.js";
import { namesScenario } from "./scenario/open-scenario.js";

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
  const parsedCommand = program.commands.find((command) => command.name() === line.name) as Commander; // the program has each command
  let code: number = exitCode.fine;
  parsedCommand.action(async () => {
    code = await callCommand(line, parsedCommand, io);
  });

  try {
    await program.parseAsync([...wordsForCommander(line)], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has printed the help or the version.
    if (error.exitCode === 0) return code;
    const { parsingError } = await import("./line/wrong-words.js");
    throw parsingError(error, line, io);
  }
  return code;
}

/** The words that Commander reads. */
function wordsForCommander(line: CommandLine): readonly string[] {
  const { name, command, hasName, argv, argvBeforeDashes } = line;
  // `help key-states` is about the default command, which Commander's `help` needs by its name.
  const [first, topic, ...more] = argvBeforeDashes;
  const hasTopic = first === "help" && topic !== undefined && !topic.startsWith("-");
  if (hasTopic && !hasName) return [first, name, ...more];

  // Commander would read the words of a client's command as arguments of ours.
  return command.takesClientCommand ? argvBeforeDashes : argv;
}

/** Reads which command a line calls. Throws a usage error for a first word that is neither a command nor a scenario. */
async function readLine(argv: readonly string[], io: Io): Promise<CommandLine> {
  const { argvBeforeDashes, clientCommand } = splitAtDashes(argv);
  const word = argvBeforeDashes.find(startsWithLongDash);
  if (word !== undefined) throw (await import("./line/wrong-words.js")).longDashError(word);

  // `help exec` names the command exec, too.
  const [first, topic] = argvBeforeDashes;
  const nameOrScenario = first === "help" ? topic : first;
  const hasName = nameOrScenario !== undefined && Object.hasOwn(commands, nameOrScenario);
  // In a line that starts with flags, only Commander finds the scenario: `callCommand` checks it.
  if (!hasName && !nameOrScenario?.startsWith("-")) await requireScenario(nameOrScenario, io);

  const name = hasName ? nameOrScenario : defaultCommand;
  const command = await loadCommand(name);
  return { name, command, hasName, argv, argvBeforeDashes, clientCommand };
}

/** Whether a word starts with the dash that some editors and chats write in place of two hyphens. */
function startsWithLongDash(word: string): boolean {
  return /^-?[\u2012-\u2015\u2212]/.test(word);
}

/** Throws a usage error if the word cannot be the scenario of a call without a command. */
async function requireScenario(word: string | undefined, io: Io): Promise<void> {
  if (word === undefined || namesScenario(word, io)) return;
  // A file that is missing has its own message.
  const looksLikeFile = /[\\/]|\.ya?ml$/i.test(word);
  if (!looksLikeFile) throw (await import("./line/wrong-words.js")).unknownWordError(word, io);
}

/** Runs the command once Commander has read its arguments and flags; resolves to its exit code. */
async function callCommand(line: CommandLine, parsedCommand: Commander, io: Io): Promise<number> {
  const { name, command, argv, clientCommand } = line;
  const { args } = parsedCommand;
  // `readLine` has not seen the scenario of a line that starts with flags.
  if (!line.hasName) await requireScenario(args[0], io);
  await requireNoPort(line, args, io);
  await requireClientCommand(line, args, io);
  await warnOfVariables(command, io);

  const { mode, flags } = readCall(name, command, parsedCommand, io);
  const fullArgv = line.hasName ? argv : [name, ...argv];
  const code = await command.run({ mode, args, flags, clientCommand, fullArgv, io });
  return code ?? exitCode.fine;
}

/** Throws a usage error if a command that serves a scenario got a port in its place. */
async function requireNoPort({ name, command }: CommandLine, args: readonly string[], io: Io): Promise<void> {
  const [scenario = ""] = args;
  if (!("port" in command.flags) || !isPort(scenario) || existsSync(resolve(io.cwd, scenario))) return;
  throw (await import("./line/wrong-words.js")).portError(name, scenario, io);
}
