import { announcedKeys } from "../sandbox/secrets.js";
import { scenarioNames } from "../scenario/bundled.js";
import type { Command } from "./command.js";
import { commands } from "./commands.js";
import { exitCode } from "./exit-codes.js";
import { verbose } from "./flags.js";
import type { Io } from "./io.js";
import { loadNamed, openNamed } from "./open-scenario.js";
import { writeData } from "./tell.js";

/** The possible completions: values, each with an optional tab and description, and whether files fit as well. */
type Fitting = readonly [values: readonly string[], files?: boolean];

/**
 * Prints the completions of the last word, one per line. The last line controls the shell's script: `:0` completes files if
 * no value fits, `:4` does not.
 */
export async function printFitting(words: readonly string[], io: Io): Promise<number> {
  // `--format=json` is one word for most shells; bash has three.
  const parts = words.flatMap((word) => /^(--[a-z-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]);
  const word = (parts.pop() ?? "").replace(/^=$/, "");
  const [values, files = false] = await fitting(
    parts.filter((one) => one !== "="),
    word,
    io,
  );
  const lines = values.filter((value) => value.startsWith(word)).map((value) => `${value}\n`);
  writeData(io.stdout, `${lines.join("")}:${files ? 0 : 4}\n`);
  return exitCode.fine;
}

async function fitting(before: readonly string[], word: string, io: Io): Promise<Fitting> {
  // The command after `--` is the user's.
  if (before.includes("--")) return [[], true];
  const [first = "", ...others] = before;
  if (first === "help") return [others.length === 0 ? await commandNames() : []];
  const isNamed = Object.hasOwn(commands, first);
  const name = isNamed ? first : (Object.keys(commands)[0] as string);
  const { command } = (await commands[name]?.()) as { command: Command };
  const flags = Object.values({ ...command.flags, verbose });
  const wanting = (one = "") =>
    flags.find(({ spec }) => spec.includes("<") && spec.split(/[ ,]+/).includes(one));
  const flag = wanting(before.at(-1));
  if (flag !== undefined) return fittingValue(/<(.+)>/.exec(flag.spec)?.[1], flag.read.choices, io);
  if (word.startsWith("-")) {
    const forms = flags.flatMap(({ spec, text }) =>
      // With the first clause of the description: a shell has one line for it.
      [...spec.matchAll(/--[a-z-]+/g)].map(([form]) => `${form}\t${text.replace(/ ?[;:(].*/s, "")}`),
    );
    return [[...forms, "--help\tprint this help"]];
  }
  const given = (isNamed ? others : before).filter(
    (one, index, all) => !one.startsWith("-") && wanting(all[index - 1]) === undefined,
  );
  const specs = Object.keys(command.words ?? {});
  const spec = specs[given.length] ?? specs.findLast((one) => one.includes("..."));
  if (spec === undefined) return [[]];
  const [values, files = false] = await fittingValue(spec.replace(/[^a-z-]/g, ""), command.choices, io);
  return [[...(before.length === 0 ? await commandNames() : []), ...values], files];
}

async function commandNames(): Promise<readonly string[]> {
  const all = Object.entries(commands).map(
    async ([name, load]) => `${name}\t${(await load()).command.summary}`,
  );
  return [...(await Promise.all(all)), "help\tprint the help of a command"];
}

async function fittingValue(
  name: string | undefined,
  choices: readonly string[] | undefined,
  io: Io,
): Promise<Fitting> {
  if (choices !== undefined) return [choices];
  if (name === "scenario") return [scenarioNames, true];
  if (name === "ref") return [await refs(io)];
  if (name === "key") return [[...(await refs(io)), "none", "malformed", "unknown"]];
  return [[], ["file", "folder", "module"].includes(name ?? "")];
}

// The keys of the default scenario.
async function refs(io: Io): Promise<string[]> {
  try {
    return announcedKeys(openNamed(await loadNamed(undefined, io), {})).keys.map(({ ref }) => ref);
  } catch {
    return [];
  }
}
