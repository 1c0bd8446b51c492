import { version } from "../node/package-files.js";
import { shellWord } from "../report/curl-line.js";
import { wrapped } from "../report/plain-text.js";
import type { CliCommand } from "./command.js";
import { cutAtDashes, readCommandLine, requireScenario } from "./command-line.js";
import { commands, loadCommand } from "./commands.js";
import { describeFailure, exitCode, exitCodeOf, failureForm } from "./exit-codes.js";
import { docsPlace, type HostIo, type Io, isSingleExecutable } from "./io.js";
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
  if (isSingleExecutable()) program = shellWord(process.argv0);
  else if (hostIo.env.npm_command !== undefined) program = "npx --no-install svc-sandbox";
  const stderr = createPrinter(hostIo.stderr, hostIo.env);
  const { line } = cutAtDashes(argv);
  const form = failureForm(line);
  const sayFailure = (error: unknown) => {
    const text = describeFailure(error, form);
    // A line of JSON stays a line.
    if (form.json) stderr.write(text);
    else stderr.say(text);
  };

  try {
    const stdout = createPrinter(hostIo.stdout, hostIo.env);
    return await run(argv, line, { ...hostIo, stdout, stderr, program, sayFailure });
  } catch (error) {
    sayFailure(error);
    return exitCodeOf(error);
  }
}

/** Runs a command line; `line` is the part before `--`. */
async function run(argv: readonly string[], line: readonly string[], io: Io): Promise<number> {
  // `help exec` is about the command exec, as `exec --help` is.
  const isHelp = line[0] === "help" || line.includes("--help") || line.includes("-h");
  if (isHelp) {
    io.stdout.write(await helpOf(line[0] === "help" ? line[1] : line[0], io));
    return exitCode.fine;
  }
  if (line[0] === "-v" || line[0] === "--version") {
    io.stdout.write(`${version}\n`);
    return exitCode.fine;
  }

  const { command, call } = await readCommandLine(argv, io);
  const code = await command.run(call);
  return code ?? exitCode.fine;
}

/** The help of what a first word calls: a command, or `start` for a scenario; without a word, of the program. */
async function helpOf(word: string | undefined, io: Io): Promise<string> {
  if (word === undefined || word.startsWith("-")) return programHelp(io);
  if (Object.hasOwn(commands, word)) return commandHelp(word, await loadCommand(word), io);
  requireScenario(word, io);
  return commandHelp("start", await loadCommand("start"), io);
}

/** Each terminal gets the same help, because the documentation contains it. */
const helpWidth = 80;

/** The help of a command: its usage, its arguments, its flags in groups, and examples. */
function commandHelp(name: string, command: CliCommand, io: Pick<Io, "program">): string {
  const { description, args = {}, variables = {}, examples } = command;
  const lines = [`Usage: ${io.program} ${name} ${usageOf(command)}`, "", ...wrapped(description, helpWidth)];

  const argumentRows: [string, string][] = [];
  for (const [spec, text] of Object.entries(args)) {
    argumentRows.push([spec.replace(/[<>[\]]|\.\.\./g, ""), text]);
  }
  const groups: Record<string, [string, string][]> = { Arguments: argumentRows };
  for (const [member, { spec, help, group }] of Object.entries(withVerbose(command.flags))) {
    const names = Object.keys(variables).filter((variable) => variables[variable] === member);
    const shown = names.length === 0 ? "" : ` [${names.join(", ")}]`;
    groups[group] ??= [];
    groups[group].push([spec, help + shown]);
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
\`svc-sandbox key-states\` is short for \`svc-sandbox start key-states\`.`;

/** The help of the program, with all commands. */
async function programHelp(io: Pick<Io, "program">): Promise<string> {
  // Who has only the executable has no files of the package.
  let forAgents =
    "Coding agents: read AGENTS.md in the package first (3 kB; node_modules/svc-sandbox/AGENTS.md).";
  if (isSingleExecutable()) {
    forAgents = `Coding agents: read ${docsPlace("agents")} first (3 kB).`;
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
