import type { CommandRow } from "./command.js";
import { flags } from "./flags.js";
import { forShell } from "./for-shell.js";
import type { Io } from "./io.js";
import { isScenario } from "./unknown-word.js";
import { usageError } from "./usage-error.js";

/** A command line, cut in two at `--`. */
export interface CutLine {
  readonly own: readonly string[];
  readonly rest: readonly string[];
}

/**
 * Cuts the line of a command that takes another one behind `--`; whatever stands there is not read, flags included.
 *
 * Throws a usage error that shows how it was probably meant when there is nothing to take, unless it asks for help.
 */
export function takeRest(row: CommandRow, argv: readonly string[], io: Io): CutLine {
  const cut = argv.indexOf("--");
  const own = cut === -1 ? argv : argv.slice(0, cut);
  const rest = cut === -1 ? [] : argv.slice(cut + 1);
  if (own.includes("--help") || own.includes("-h")) return { own, rest: [] };
  if (own.includes("--json")) {
    throw usageError(
      `Failed to read the command line: what ${row.name} writes to stdout is the command's own, so there is no --json. Name a file: --report report.json.`,
    );
  }
  const words = wordsIn(own, row);
  if (rest.length > 0 && words.length <= row.words.length) return { own, rest };
  throw usageError(
    `Failed to read the command line: ${row.name} needs ${meant({ own, rest }, words, io)}\n\`svc-sandbox ${row.name} --help\` shows how it is written.`,
  );
}

/** Where in a line the words are that are neither flags nor the values of flags; the command's name is not counted. */
function wordsIn(own: readonly string[], row: CommandRow): number[] {
  const withValue = row.flags
    .map((name) => flags[name].spec)
    .filter((spec) => spec.includes("<"))
    .flatMap((spec) => spec.match(/(?<=^|[ ,])--?[a-z-]+/gi) ?? []);
  const found: number[] = [];
  for (let at = 1; at < own.length; at++) {
    const word = own[at] as string;
    if (withValue.includes(word)) at += 1;
    else if (!word.startsWith("-")) found.push(at);
  }
  return found;
}

// The first word is either our scenario or where the command begins.
function meant({ own, rest }: CutLine, words: readonly number[], io: Io): string {
  const [first, second] = words;
  const namesScenario = first !== undefined && isScenario(own[first] as string, io);
  const begin = (namesScenario ? second : first) ?? own.length;
  const command = [...own.slice(begin), ...(rest.length === 0 ? [] : ["--", ...rest])];
  const [needs, shown] =
    command.length === 0 ? ["a command behind --", ["npm", "test"]] : ["-- before the command", command];
  return `${needs}: ${["svc-sandbox", ...own.slice(0, begin), "--", ...shown].map(forShell).join(" ")}`;
}
