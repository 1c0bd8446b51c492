import { version } from "../node/package-files.js";
import { shellWord } from "../report/curl-line.js";
import { wrapped } from "../report/plain-text.js";
import type { CliCommand } from "./command.js";
import {
  type CommandLine,
  errorForm,
  hasFlag,
  readCall,
  readLine,
  requireKnownWord,
} from "./command-line.js";
import { commands, loadCommand } from "./commands.js";
import { describeFailure, exitCode, exitCodeOf } from "./exit-codes.js";
import { type HostIo, type Io, isExecutable } from "./io.js";
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

  let form: { readonly verbose?: boolean; readonly json?: boolean } = {};
  try {
    // `help exec` is about the command exec, as `exec --help` is.
    const isHelp = argv[0] === "help";
    const line = await readLine(isHelp ? argv.slice(1) : argv, io);
    form = errorForm(line, io.env);
    return await run(line, isHelp || hasFlag(line, "help"), io);
  } catch (error) {
    const text = describeFailure(error, form);
    // A line of JSON stays a line.
    if (form.json) io.stderr.write(text);
    else io.stderr.say(text);
    return exitCodeOf(error);
  }
}

async function run(line: CommandLine, isHelp: boolean, io: Io): Promise<number> {
  const { name, command, hasName, words } = line;
  if (isHelp) {
    requireKnownWord(line, io);
    // `help key-states` is about the default command.
    const hasTopic = hasName || words.length > 0;
    io.stdout.write(hasTopic ? commandHelp(name, command, io) : await programHelp(io));
    return exitCode.fine;
  }
  if (hasFlag(line, "version")) {
    io.stdout.write(`${version}\n`);
    return exitCode.fine;
  }

  const call = await readCall(line, io);
  const code = await command.run(call);
  return code ?? exitCode.fine;
}

/** Each terminal gets the same help, because the documentation contains it. */
const helpWidth = 80;

/** The help of a command: its usage, its arguments, its flags in groups, and examples. */
function commandHelp(name: string, command: CliCommand, io: Pick<Io, "program">): string {
  const { description, args = {}, variableOfArgument, examples } = command;
  const lines = [`Usage: ${io.program} ${name} ${usageOf(command)}`, "", ...wrapped(description, helpWidth)];

  const argumentRows: [string, string][] = [];
  for (const [spec, text] of Object.entries(args)) {
    const variable = variableOfArgument === undefined ? "" : ` [${variableOfArgument}]`;
    argumentRows.push([spec.replace(/[<>[\]]|\.\.\./g, ""), text + variable]);
  }
  const groups: Record<string, [string, string][]> = { Arguments: argumentRows };
  for (const { spec, help, variables, group } of Object.values(withVerbose(command.flags))) {
    const variable = variables.length === 0 ? "" : ` [${variables.join(", ")}]`;
    groups[group] ??= [];
    groups[group].push([spec, help + variable]);
  }
  groups.Flags = [...(groups.Flags ?? []), ["-h, --help", "print this help"]];
  lines.push(...groupLines(groups), "", exampleText(examples, io));
  return `${lines.join("\n")}\n`;
}

/** The words of a call, after the name of the command. */
function usageOf({ args = {}, takesClientCommand }: CliCommand): string {
  const words = [...Object.keys(args), "[flags]"];
  if (takesClientCommand) words.push("--", "<command...>");
  return words.join(" ");
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

/** The help of the program, with all commands. */
async function programHelp(io: Pick<Io, "program">): Promise<string> {
  // Who has only the executable has no files of the package.
  let forAgents =
    "Coding agents: read AGENTS.md in the package first (3 kB; node_modules/svc-sandbox/AGENTS.md).";
  if (isExecutable()) {
    forAgents = `Coding agents: \`${io.program} init --agent\` writes what to read first (3 kB).`;
  }
  const rows: [string, string][] = [];
  for (const name of Object.keys(commands)) {
    const command = await loadCommand(name);
    rows.push([`${name} ${usageOf(command)}`.replace(" [flags]", ""), command.summary]);
  }
  rows.push(["help [command]", "print the help of a command"]);
  const flags: [string, string][] = [
    ["-v, --version", "print the version"],
    ["-h, --help", "print this help"],
  ];
  const about =
    "A sandbox of the relying-party API: every key state, limit and error, the same way each time.";
  const lines = [`Usage: ${io.program} [command] [scenario] [flags]`, "", ...wrapped(about, helpWidth), ""];
  lines.push(...wrapped(forAgents, helpWidth), ...groupLines({ Flags: flags, Commands: rows }), "");
  lines.push(exampleText(rootExamples, io), "", rootNotes.replaceAll("svc-sandbox", io.program));
  return `${lines.join("\n")}\n`;
}

/** Titled tables of two columns. The second column of each continues below itself. */
function groupLines(groups: Readonly<Record<string, readonly [term: string, text: string][]>>): string[] {
  const terms = Object.values(groups).flatMap((rows) => rows.map(([term]) => term.length));
  const start = Math.max(...terms) + 4;
  const lines: string[] = [];
  for (const [title, rows] of Object.entries(groups)) {
    if (rows.length > 0) lines.push("", `${title}:`);
    for (const [term, text] of rows) {
      const [first = "", ...others] = wrapped(text, helpWidth - start);
      lines.push(`  ${term}`.padEnd(start) + first, ...others.map((line) => " ".repeat(start) + line));
    }
  }
  return lines;
}

function exampleText(examples: CliCommand["examples"], { program }: Pick<Io, "program">): string {
  const lines = ["Examples:"];
  for (const [line, does] of Object.entries(examples)) {
    // A comment may name the command that ends what the line starts. `svc-sandbox.yaml` is a file.
    const comment = does.replaceAll("svc-sandbox ", `${program} `);
    lines.push(`  # ${comment}`, `  ${line.replaceAll("svc-sandbox", program)}`);
  }
  return lines.join("\n");
}
