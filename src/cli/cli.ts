import { version } from "../node/package-files.js";
import { printable } from "../spec/redact.js";
import { nearest } from "../spec/schema/words.js";
import type { CliCommand } from "./command.js";
import { commands } from "./commands.js";
import { describeFailure, exitCode, exitCodeOf } from "./exit-codes.js";
import { verbose } from "./flags.js";
import { type Io, isForPrograms, isVerbose, type Output, programName, splitAtDashes } from "./io.js";
import { misread, parse, printHelp, unknownWord } from "./program.js";
import { tell } from "./terminal.js";

export { setPackageReader } from "../node/package-files.js";
export type { Io } from "./io.js";
export { processIo } from "./io.js";

/**
 * Runs one command line (without `node` and the script) and resolves to its exit code. Never throws.
 *
 * @example
 * process.exitCode = await cli(process.argv.slice(2), processIo(process));
 */
export async function cli(argv: readonly string[], given: Io): Promise<number> {
  const io = {
    ...given,
    stdout: printing(given.stdout),
    stderr: printing(given.stderr),
  };
  try {
    return await run(argv, io);
  } catch (error) {
    const how = { verbose: isVerbose(argv, io.env), json: isForPrograms(argv, io.env) };
    tell(io.stderr, describeFailure(error, how));
    return exitCodeOf(error);
  }
}

// The only way to a terminal: removes everything that would control it.
function printing(output: Output): Output {
  const { isTTY = false, room } = output;
  return {
    isTTY,
    get columns() {
      return output.columns;
    },
    write: (text, done) => output.write(printable(text, isTTY), done),
    ...(room !== undefined && { room: (until) => room(until) }),
  };
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const [before, behind] = splitAtDashes(argv);
  const [first = ""] = before;
  const asks = (...flags: string[]) => before.some((word) => flags.includes(word));
  const asksHelp = asks("-h", "--help");
  if (asks("-V", "-v", "--version") || first === "version") {
    tell(io.stdout, `${version}\n`);
    return exitCode.fine;
  }
  if (first === "help") return printHelpOf(before[1], io);
  if (first === "completion" && before[1] === "complete") {
    const { printFitting } = await import("./commands/completion.js");
    return printFitting(behind, commands, io);
  }
  const implied = !Object.hasOwn(commands, first);
  if (implied && asksHelp) return printHelpOf(undefined, io);
  const [name, given] = implied ? [Object.keys(commands)[0] as string, argv] : [first, argv.slice(1)];
  const command = await load(name, io);
  const { rest: needed } = command;
  if (needed?.startsWith("<") && behind.length === 0 && !asksHelp) {
    const program = programName(io.env);
    throw misread(name, `${name} needs -- and a command after it: ${program} ${name} -- npm test`, io);
  }
  const parsed = parse(name, command, needed === undefined ? given : before.slice(1), { io, implied });
  if (parsed === undefined) return exitCode.fine;
  await warnOfVariables(command, io);
  return command.run({ ...parsed, line: [name, ...given], rest: behind, io });
}

async function printHelpOf(name: string | undefined, io: Io): Promise<number> {
  if (name === undefined || name === "help" || name.startsWith("-")) await printHelp(io);
  else parse(name, await load(name, io), ["--help"], { io });
  return exitCode.fine;
}

// Ignores variables of other programs or other versions.
async function warnOfVariables(command: CliCommand, io: Io): Promise<void> {
  const { env, stderr } = io;
  const prefix = "SVC_SANDBOX_";
  const variablesOf = ({ flags }: CliCommand) =>
    Object.values({ ...flags, verbose }).flatMap((one) => one.variables);
  const unknownTo = (known: readonly string[], names: readonly string[]) =>
    names.filter((name) => name.startsWith(prefix) && !known.includes(name));
  const names = unknownTo(variablesOf(command), Object.keys(env));
  // Usually there are none, and loading every command takes long.
  if (names.length === 0) return;
  const all = await Promise.all(Object.keys(commands).map((name) => load(name, io)));
  const known = all.flatMap(variablesOf);
  const endings = known.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  for (const name of unknownTo(known, names)) {
    const meant = nearest(name.slice(prefix.length), endings);
    if (meant !== undefined)
      tell(stderr, `Warning: ${name} has no effect. Did you mean ${prefix}${meant}?\n`);
  }
}

async function load(name: string, io: Io): Promise<CliCommand> {
  if (!Object.hasOwn(commands, name)) throw unknownWord(name, io);
  return commands[name]?.() as Promise<CliCommand>;
}
