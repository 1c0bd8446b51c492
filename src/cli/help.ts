import { Command as Commander, Option } from "commander";
import { version } from "../node/package-files.js";
import { alignColumns } from "../report/plain-text.js";
import type { CliCommand } from "./command.js";
import { commands } from "./commands.js";
import { usageError } from "./exit-codes.js";
import * as flag from "./flags.js";
import { type Io, isExecutable } from "./io.js";
import { type CommandLine, defaultCommand, loadCommand } from "./line.js";
import * as shared from "./shared-flags.js";

/** Commander's program with all commands. Usually only the called one has its flags and texts: loading every command takes long. */
export async function createProgram(line: CommandLine, io: Io): Promise<Commander> {
  // The help of the program shows the summary of each command.
  const asksForHelp = line.argvBeforeDashes.some((word) => ["help", "-h", "--help"].includes(word));
  const needsAllCommands = asksForHelp && !line.hasName;
  const showsAllFlags = line.argvBeforeDashes.includes("--all");

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

/** What coding agents read first: who has only the executable has no files of the package. */
function noteForAgents({ program }: Io): string {
  if (isExecutable()) return `Coding agents: \`${program} init --agent\` writes what to read first (3 kB).`;
  return "Coding agents: read AGENTS.md in the package first (3 kB; node_modules/svc-sandbox/AGENTS.md).";
}

function createRoot(io: Io): Commander {
  const notes = rootNotes.replaceAll("svc-sandbox", io.program);
  return configure(new Commander(io.program), io)
    .description(
      `A sandbox of the relying-party API: every key state, limit and error, the same way each time.\n\n${noteForAgents(io)}`,
    )
    .usage("[command] [scenario] [flags]")
    .helpCommand("help [command]", "print the help of a command")
    .version(version, "-v, --version", "print the version")
    .addHelpText("after", `\n${exampleText(rootExamples, io)}\n\n${notes}`);
}

function createSubcommand(name: string, command: CliCommand, showsAllFlags: boolean, io: Io): Commander {
  const { usualFlags = [] } = command;
  const allFlags = shared.withVerbose(command.flags);
  let shownFlags: readonly string[] = usualFlags;
  if (showsAllFlags || usualFlags.length === 0) shownFlags = Object.keys(allFlags);
  const hidden = Object.keys(allFlags).length - shownFlags.length;
  const more = hidden === 0 ? "" : `\n${hidden} more flags: ${io.program} ${name} --help --all\n`;

  const argumentTexts = Object.entries(command.args ?? {});
  const usage = [...argumentTexts.map(([spec]) => spec), "[flags]"];
  if (command.takesClientCommand) usage.push("--", "<command...>");
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
