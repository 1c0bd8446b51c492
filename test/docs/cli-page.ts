import type { CliCommand } from "../../src/cli/command.js";
import { startCommand } from "../../src/cli/commands/start.js";
import { commands } from "../../src/cli/commands.js";
import type { Flag, FlagSet } from "../../src/cli/flags.js";
import { scenarioArgument } from "../../src/cli/shared-flags.js";
import { code, table } from "../support/pages.js";

// The generated parts of docs/cli.md, from the declarations of the commands.

type NamedCommand = readonly [name: string, command: CliCommand];

const loaded: Promise<readonly NamedCommand[]> = Promise.all(
  Object.entries(commands).map(async ([name, load]) => [name, await load()] as const),
);

/** Each command with its arguments and what it does. */
export async function commandsPart(): Promise<string> {
  const rows = (await loaded).map(([name, command]) => [
    `[${code(usageOf(name, command))}](#${name})`,
    command.summary,
  ]);
  return table(["command", "what it does"], ...rows);
}

function usageOf(name: string, { args = {}, takesClientCommand }: CliCommand): string {
  const words = [name, ...Object.keys(args)];
  if (takesClientCommand) words.push("--", "<command...>");
  return words.join(" ");
}

/** A section for each command: its arguments, and the flags that only it has. */
export async function eachCommandPart(): Promise<string> {
  const shared = await sharedFlags();
  const sections = (await loaded).map(([name, { args = {}, flags }]) => {
    // What is left of the output differs from command to command, as `--help` shows.
    const isShared = (flag: Flag<unknown>) => shared.has(flag) || flag.long === "--quiet";
    const own = Object.values(flags).filter((flag) => !isShared(flag));
    const others = Object.values(flags).filter(isShared);
    const parts = [`### ${name}`];
    const unlike = Object.entries(args).filter(([, meaning]) => meaning !== ofScenario);
    const words = unlike.map(([word, meaning]) => `- ${code(word)}: ${meaning}`);
    if (words.length > 0) parts.push(words.join("\n"));
    if (own.length > 0) parts.push(table(["flag", "default", "meaning"], ...own.map(flagCells)));
    if (others.length > 0) {
      const names = others.map(({ long }) => code(long)).join(", ");
      parts.push(`[Also](#flags-of-several-commands): ${names}.`);
    }
    if (parts.length === 1) parts.push("It has no flags.");
    return parts.join("\n\n");
  });
  return sections.join("\n\n");
}

/** What `[scenario]` means, which the page explains once. */
const [ofScenario] = Object.values(scenarioArgument);

/** The flags that are declared once for several commands. */
export async function sharedFlagsPart(): Promise<string> {
  const rows = [...(await sharedFlags()).keys()].map(flagCells);
  return table(["flag", "default", "meaning"], ...rows);
}

async function sharedFlags(): Promise<Map<Flag<unknown>, readonly string[]>> {
  const users = new Map<Flag<unknown>, readonly string[]>();
  for (const [name, { flags }] of await loaded) {
    for (const flag of Object.values(flags)) users.set(flag, [...(users.get(flag) ?? []), name]);
  }
  return new Map([...users].filter(([, names]) => names.length > 1));
}

/** The variables of `start`, each with the flag that it sets. */
export async function startVariablesPart(): Promise<string> {
  const { variables = {} } = startCommand;
  const flags: FlagSet = startCommand.flags;
  return Object.entries(variables)
    .map(([variable, member]) => `${code(variable)} (${code(flags[member]?.long ?? "")})`)
    .join(", ");
}

/** The flag, its default, and its meaning without the default. */
function flagCells({ spec, help }: Flag<unknown>): string[] {
  const [all = "", fallback = ""] = / ?\(default: ([^()]*(?:\([^()]*\)[^()]*)*)\)/.exec(help) ?? [];
  return [code(spec), fallback, help.replace(all, "")];
}
