import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command as Commander, CommanderError, Option } from "commander";
import type { SandboxError } from "../domain/errors.js";
import { bundledScenarios, isScenarioName } from "../scenario/bundled.js";
import { nearest, quote } from "../scenario/problems/words.js";
import { type Command, type Example, type Flag, type FlagSet, type FlagValues, longForm } from "./command.js";
import { commands } from "./commands.js";
import { usageError } from "./exit-codes.js";
import type { Io } from "./io.js";
import { forShell } from "./terminal.js";

/** A command line of a command, taken apart. */
export interface Parsed {
  /** The arguments that are not flags, in order. */
  readonly words: readonly string[];
  readonly flags: FlagValues<FlagSet>;
}

/**
 * Reads the command line of a command; flags that are not on it come from the environment. `undefined` when it asked
 * for help, which is printed then. Throws a usage error that names the flag or the variable and says what to do.
 */
export function parse(
  name: string,
  command: Command,
  argv: readonly string[],
  { io, implied = false }: { readonly io: Io; readonly implied?: boolean },
): Parsed | undefined {
  const commander = commanderOf(`svc-sandbox ${name}`, command, io);
  try {
    commander.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw misread(name, sentenceOf(error));
  }
  const { args: words } = commander;
  const excess = words[command.words.length];
  if (excess !== undefined && !command.words.at(-1)?.spec.includes("...")) {
    const [first = ""] = words;
    if (implied && !isScenario(first, io)) throw unknownWord(first);
    const taken = command.words.map(({ spec }) => spec).join(" ") || "no words";
    throw misread(name, `${name} takes ${taken}, and ${JSON.stringify(excess)} is one too many.`);
  }
  return { words, flags: flagValues(command.flags, commander, io.env) };
}

/** The usage error for a line whose command is not behind `--`, with the line that was probably meant. */
export function misplacedRest(
  name: string,
  command: Command,
  { own, rest }: { readonly own: readonly string[]; readonly rest: readonly string[] },
  io: Io,
): Error | undefined {
  const { operands } = commanderOf(name, command, io).parseOptions([...own]);
  if (rest.length > 0 && operands.length <= command.words.length) return undefined;
  // The first word is either our scenario or where the command begins.
  const first = operands.find((word, index) => index > 0 || !isScenario(word, io));
  const at = first === undefined ? own.length : own.indexOf(first);
  const behind = [...own.slice(at), ...(rest.length === 0 ? [] : ["--", ...rest])];
  const [needs, shown] =
    behind.length === 0 ? ["a command behind --", ["npm", "test"]] : ["-- before the command", behind];
  const line = ["svc-sandbox", name, ...own.slice(0, at), "--", ...shown].map(forShell).join(" ");
  return misread(name, `${name} needs ${needs}: ${line}`);
}

function misread(name: string, sentence: string): Error {
  return usageError(
    `Failed to read the command line: ${sentence}\n\`svc-sandbox ${name} --help\` shows how it is written.`,
  );
}

const rootExamples: readonly Example[] = [
  { line: "svc-sandbox", does: "serve every state of a key" },
  { line: "svc-sandbox list", does: "see which scenarios there are" },
  { line: "svc-sandbox explain revoked", does: "why a key is refused, and what to do" },
  { line: "svc-sandbox init && svc-sandbox --watch", does: "begin a scenario of your own" },
];

const rootNotes = `\`svc-sandbox <command> --help\` shows the flags of a command; \`svc-sandbox key-states\` is short for
\`svc-sandbox start key-states\`. A flag can be set by the variable in brackets behind it.`;

/** Prints the help of the whole program: its commands, without their flags. */
export async function printHelp(io: Io): Promise<void> {
  const program = configure(new Commander("svc-sandbox"), io)
    .description(
      "A sandbox of the relying-party API: every key state, limit and error, the same way each time.",
    )
    .usage("[command] [scenario] [flags]")
    .helpCommand("help [command]", "print the help of a command")
    .option("-V, --version", "print the version")
    .addHelpText("after", `\n${exampleText(rootExamples)}\n\n${rootNotes}`);
  for (const [name, load] of Object.entries(commands)) {
    program.addCommand(commanderOf(name, (await load()).command, io));
  }
  program.outputHelp();
}

function commanderOf(name: string, command: Command, io: Io): Commander {
  const commander = configure(new Commander(name), io)
    .summary(command.summary)
    .description(command.description)
    .usage(usageOf(command))
    // The message says which word is too many.
    .allowExcessArguments(true)
    .addHelpText("after", `\n${exampleText(command.examples)}`);
  for (const { spec, text } of command.words) commander.argument(spec, text);
  for (const flag of Object.values(command.flags)) commander.addOption(optionOf(flag));
  return commander;
}

function optionOf({ spec, text, variables, read, repeatable, conflicts }: Flag<unknown>): Option {
  const also = variables.length === 0 ? "" : ` [${variables.join(", ")}]`;
  const option = new Option(spec, text + also).conflicts([...conflicts]);
  if (!spec.includes("<")) return option;
  return option.argParser((value, previous) => {
    const found = read(value, longForm(spec));
    return repeatable ? [...((previous as unknown[]) ?? []), ...(found as unknown[])] : found;
  });
}

// Commander reads variables itself, but takes an empty one and a `0` for set, and has one for each option.
function flagValues(flags: FlagSet, commander: Commander, env: Io["env"]): FlagValues<FlagSet> {
  const given = commander.opts<Record<string, unknown>>();
  const isGiven = (attribute: string) => commander.getOptionValueSource(attribute) === "cli";
  const values: Record<string, unknown> = {};
  for (const [name, { spec, variables, read, conflicts }] of Object.entries(flags)) {
    const option = new Option(spec);
    const attribute = option.attributeName();
    const variable = variables.find((one) => (env[one] ?? "") !== "");
    if (isGiven(attribute)) values[name] = given[attribute];
    // A flag on the command line wins over a variable that contradicts it.
    else if (variable !== undefined && !conflicts.some(isGiven)) {
      const value = read(env[variable] as string, variable);
      values[name] = option.negate ? !value : value;
    }
  }
  return values;
}

function sentenceOf({ message, code }: CommanderError): string {
  const text = message.replace(/^error: /, "").replace(/\s*\(Did you mean (.*)\?\)$/s, ". Did you mean $1?");
  const sentence = /[.?]$/.test(text) ? text : `${text}.`;
  return code === "commander.conflictingOption" ? `${sentence} Leave one out.` : sentence;
}

function usageOf({ words, rest }: Command): string {
  return [...words.map(({ spec }) => spec), "[flags]", ...(rest === undefined ? [] : ["--", rest])].join(" ");
}

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
      // The same on every terminal, so that the documentation can be made from it.
      getOutHelpWidth: () => 100,
      getOutHasColors: () => false,
    });
}

function exampleText(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ line }) => line.length));
  return ["Examples:", ...examples.map(({ line, does }) => `  ${line.padEnd(width)}  # ${does}`)].join("\n");
}

// A bundled name, or a file that is there.
function isScenario(word: string, io: Io): boolean {
  return isScenarioName(word) || existsSync(resolve(io.cwd, word));
}

/** The usage error for a first word that is no command and no scenario, with what it might have been. */
export function unknownWord(word: string): SandboxError {
  const names = Object.keys(commands);
  // `svc-sandbox --json list`: the flags are taken for those of the default command, and the command for its scenario.
  if (names.includes(word)) {
    return usageError(
      `Failed to find the scenario ${quote(word)}: that is a command, and a command comes before its flags: svc-sandbox ${word} …`,
    );
  }
  const command = nearest(word, names);
  const scenario = nearest(word, Object.keys(bundledScenarios));
  const meant = [
    ...(command === undefined ? [] : [`the command ${quote(command)}`]),
    ...(scenario === undefined ? [] : [`the scenario ${quote(scenario)}`]),
  ].join(" or ");
  return usageError(
    `Failed to understand ${quote(word)}: it is neither a command, nor a bundled scenario, nor a file here.${
      meant === "" ? "" : ` Did you mean ${meant}?`
    }\n\`svc-sandbox --help\` shows the commands, \`svc-sandbox list\` the bundled scenarios.`,
  );
}
