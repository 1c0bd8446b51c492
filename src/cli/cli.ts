import { CommanderError } from "commander";
import { version } from "../node/package-files.js";
import { shellWord } from "../report/curl-line.js";
import { describeFailure, exitCode, exitCodeOf } from "./exit-codes.js";
import { type HostIo, type Io, isExecutable, splitAtDashes, wantedErrorForm } from "./io.js";
import { readCall, readLine } from "./line.js";
import { createParser, printProgramHelp } from "./parser.js";
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
    if (hasTopic) parser.outputHelp();
    else await printProgramHelp(io);
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
