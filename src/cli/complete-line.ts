import { readdirSync } from "node:fs";
import { scenarioNames } from "../scenario/bundled.js";
import { announcedKeys } from "../world/secrets.js";
import type { Command, Flag } from "./command.js";
import { commands } from "./commands.js";
import { exitCode } from "./exit-codes.js";
import { verbose } from "./flags.js";
import type { Io } from "./io.js";
import { loadNamed, openNamed } from "./open-scenario.js";
import { writeData } from "./tell.js";

/** What may stand at a place of a command line. */
interface Fitting {
  /** Values, with what each one means. */
  readonly values: readonly (readonly [value: string, meaning?: string])[];
  /** Whether files fit as well. */
  readonly files: boolean;
}

/**
 * Prints what fits in place of the last word, which may be incomplete: a line for each value. The last line has what the
 * scripts of shells do then: `:0` complete files if no value fits, `:4` none.
 */
export async function printFitting(words: readonly string[], io: Io): Promise<number> {
  const { before, word } = splitAtLast(words);
  // The command behind `--` is not ours.
  const isOurs = !before.includes("--");
  const { values, files } = isOurs ? await fitting(before, word, io) : { values: [], files: true };
  const lines = values
    .filter(([value]) => value.startsWith(word))
    .map(([value, meaning = ""]) => `${value}\t${meaning}\n`);
  writeData(io.stdout, `${lines.join("")}:${files ? 0 : 4}\n`);
  return exitCode.fine;
}

// `--format=json` is one word for most shells; bash has three.
function splitAtLast(words: readonly string[]) {
  const parts = words.flatMap((word) => /^(--[a-z-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]);
  const last = parts.pop() ?? "";
  return { before: parts.filter((word) => word !== "="), word: last === "=" ? "" : last };
}

async function fitting(before: readonly string[], word: string, io: Io): Promise<Fitting> {
  const [first = "", ...others] = before;
  const isNamed = Object.hasOwn(commands, first);
  const name = isNamed ? first : (Object.keys(commands)[0] as string);
  const { command } = (await commands[name]?.()) as { command: Command };
  const flags = Object.values({ ...command.flags, verbose });
  const wanting = (one = "") =>
    flags.find(({ spec }) => spec.includes("<") && spec.split(/[ ,]+/).includes(one));
  const flag = wanting(before.at(-1));
  if (flag !== undefined) return fittingValue(/<([^>]+)>/.exec(flag.spec)?.[1], flag.read.choices, io);
  if (word.startsWith("-")) {
    return { values: [...flags.flatMap(longForms), ["--help", "print this help"]], files: false };
  }
  const given = (isNamed ? others : before).filter(
    (one, index, all) => !one.startsWith("-") && wanting(all[index - 1]) === undefined,
  );
  const names = before.length === 0 || first === "help" ? await commandNames() : [];
  if (first === "help") return { values: given.length === 1 ? names : [], files: false };
  const specs = Object.keys(command.words ?? {});
  const spec = specs[given.length] ?? specs.findLast((one) => one.includes("..."));
  const fits = await fittingValue(
    spec?.replace(/[^a-z-]/g, ""),
    spec === undefined ? spec : command.choices,
    io,
  );
  return { ...fits, values: [...names, ...fits.values] };
}

function longForms({ spec, text }: Flag<unknown>): Fitting["values"] {
  // The first clause: a shell has one line for it.
  const meaning = text.replace(/ ?[;:(].*/s, "");
  return [...spec.matchAll(/--[a-z-]+/g)].map(([name]) => [name, meaning]);
}

async function commandNames(): Promise<Fitting["values"]> {
  const all = Object.entries(commands).map(async ([name, load]) => {
    const { command } = await load();
    return [name, command.summary] as const;
  });
  return [...(await Promise.all(all)), ["help", "print the help of a command"]];
}

async function fittingValue(
  name: string | undefined,
  choices: readonly string[] | undefined,
  io: Io,
): Promise<Fitting> {
  const listed = (values: readonly string[], files = false) => ({
    values: values.map((one) => [one] as const),
    files,
  });
  if (choices !== undefined) return listed(choices);
  if (name === "scenario") return listed([...scenarioNames, ...scenarioFiles(io)], true);
  if (name === "ref") return listed(await refs(io));
  if (name === "key") return listed([...(await refs(io)), "none", "malformed", "unknown"]);
  return listed([], ["file", "folder", "module"].includes(name ?? ""));
}

function scenarioFiles({ cwd }: Io): string[] {
  try {
    return readdirSync(cwd).filter((file) => /\.ya?ml$/.test(file));
  } catch {
    return [];
  }
}

// Those of the scenario that a command takes when none is named.
async function refs(io: Io): Promise<string[]> {
  try {
    return announcedKeys(openNamed(await loadNamed(undefined, io), {})).keys.map(({ ref }) => ref);
  } catch {
    return [];
  }
}
