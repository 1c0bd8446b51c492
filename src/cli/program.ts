import { Command, type Argument as CommanderArgument, CommanderError, Option } from "commander";
import type { CommandRow, Example } from "./command.js";
import { commands } from "./commands.js";
import { type Flag, flags } from "./flags.js";
import type { Io } from "./io.js";
import type { GivenFlag } from "./read-flags.js";

/** A command line, taken apart: the command, what is not a flag, and what was said of each flag. */
export interface Understood {
  readonly row: CommandRow;
  readonly words: readonly string[];
  readonly given: GivenFlag;
}

/** The code of the error that is thrown when `--version` was given. */
export const versionAsked = "svc-sandbox.version";

const rootExamples: readonly Example[] = [
  { line: "svc-sandbox", does: "serve every state of a key" },
  { line: "svc-sandbox list", does: "see which scenarios there are" },
  { line: "svc-sandbox explain revoked", does: "why a key is refused, and what to do" },
  { line: "svc-sandbox init && svc-sandbox --watch", does: "begin a scenario of your own" },
];

/**
 * Takes a command line apart; prints help when it asks for help.
 *
 * Throws a `CommanderError` for what it cannot understand, and with exit code 0 when help or the version was asked for.
 */
export function understand(argv: readonly string[], io: Io): Understood {
  let understood: Understood | undefined;
  const program = configure(new Command("svc-sandbox"), io)
    .description(
      "A sandbox of the relying-party API: every key state, limit and error, the same way each time.",
    )
    .usage("[command] [scenario] [flags]")
    .helpCommand("help [command]", "print the help of a command")
    .option("-V, --version", "print the version")
    .addHelpText("after", `\n${exampleText(rootExamples)}\n\n${rootNotes}`)
    .on("option:version", () => {
      throw new CommanderError(0, versionAsked, "");
    });
  for (const row of commands) {
    const command = commandOf(row, io).action(() => {
      understood = { row, words: command.args, given: (name) => givenTo(command, name) };
    });
    program.addCommand(command, { isDefault: row === commands[0] });
  }
  program.parse([...argv], { from: "user" });
  // Commander ran an action or threw.
  return understood as unknown as Understood;
}

function commandOf(row: CommandRow, io: Io): Command {
  const command = configure(new Command(row.name), io)
    .summary(row.summary)
    .description(row.description)
    .usage([...row.words.map(({ spec }) => spec), "[flags]", ...restOf(row)].join(" "))
    // We say ourselves which word is too many.
    .allowExcessArguments(true)
    .addHelpText("after", `\n${exampleText(row.examples)}`);
  for (const { spec, text } of row.words) command.argument(spec, text);
  for (const name of row.flags) {
    const { spec, text, variables, repeatable }: Flag = flags[name];
    const also = variables.length === 0 ? "" : ` [${variables.join(", ")}]`;
    const option = new Option(spec, text + also);
    if (repeatable) option.argParser((one, others: string[] = []) => [...others, one]);
    command.addOption(option);
  }
  return command;
}

function restOf({ rest }: Pick<CommandRow, "rest">): string[] {
  return rest === undefined ? [] : ["--", rest];
}

function configure(command: Command, io: Io): Command {
  return command
    .exitOverride()
    .helpOption("-h, --help", "print this help")
    .configureHelp({
      styleTitle: (title) => (title === "Options:" ? "Flags:" : title),
      subcommandTerm: (one) => {
        const row = commands.find(({ name }) => name === one.name());
        return [one.name(), ...one.registeredArguments.map(wordTerm), ...restOf(row ?? {})].join(" ");
      },
    })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // Errors are printed by whoever catches them.
      outputError: () => {},
      // The same on every terminal, so that the documentation can be made from it.
      getOutHelpWidth: () => 100,
      getOutHasColors: () => false,
    });
}

function wordTerm(word: CommanderArgument): string {
  const name = word.variadic ? `${word.name()}...` : word.name();
  return word.required ? `<${name}>` : `[${name}]`;
}

function givenTo(command: Command, name: keyof typeof flags): ReturnType<GivenFlag> {
  const option = new Option(flags[name].spec);
  const attribute = option.attributeName();
  if (command.getOptionValueSource(attribute) !== "cli") return undefined;
  const value = command.getOptionValue(attribute) as string | boolean | readonly string[];
  return option.negate ? true : value;
}

function exampleText(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ line }) => line.length));
  return ["Examples:", ...examples.map(({ line, does }) => `  ${line.padEnd(width)}  # ${does}`)].join("\n");
}

const rootNotes = `\`svc-sandbox <command> --help\` shows the flags of a command; \`svc-sandbox key-states\` is short for
\`svc-sandbox start key-states\`. A flag can be set by the variable in brackets behind it.`;
