import { version } from "../node/package-files.js";
import { nearest } from "../rules/schema/words.js";
import type { CliCommand } from "./command.js";
import { commands } from "./commands.js";
import { describeFailure, exitCode, exitCodeOf } from "./exit-codes.js";
import * as flag from "./flags.js";
import { errorFormOf, type GivenIo, type Io, programIn, splitAtDashes } from "./io.js";
import { checkHelpFlags, lacksDashes, parse, printHelp, unknownWord } from "./program.js";
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
