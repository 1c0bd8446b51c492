import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ScenarioProblemCode } from "../../src/index.js";
import { root } from "./pages.js";

/** A wrong turn of a page: what a person wrote, under its name. */
export interface WrongTurn {
  readonly name: string;
  readonly input: string;
}

export interface MessagePage {
  readonly file: string;
  /** What stands above its first wrong turn. */
  readonly start: string;
  readonly turns: readonly WrongTurn[];
}

const folder = join(root, "test/messages");
const block = /^```(?:yaml|sh)\n(.*?\n)```$/ms;
const escapes: Readonly<Record<string, string>> = { "\\r": "\r", "\\ufeff": "\ufeff", "\\\\": "\\" };

function readPage(name: string): MessagePage {
  const file = join(folder, name);
  const [start = "", ...sections] = readFileSync(file, "utf8").split(/^## /m);
  return { file, start, turns: sections.map(readTurn) };
}

/** The pages of a kind: in their input, `\r` is a carriage return, `\ufeff` a byte order mark, and `\\` a backslash. */
export const messagePages = (kind: "scenario" | "command"): MessagePage[] =>
  readdirSync(folder)
    .filter((file) => file.startsWith(kind) && file.endsWith(".md"))
    .map(readPage);

function readTurn(section: string): WrongTurn {
  const [name = "", ...rest] = section.split("\n");
  const [, input = ""] = block.exec(rest.join("\n")) ?? [];
  return { name, input: input.replaceAll(/\\(?:r|ufeff|\\)/g, (sequence) => escapes[sequence] ?? sequence) };
}

/** The text of a page whose wrong turns result in these texts. */
export function pageWith(page: MessagePage, language: "yaml" | "sh", texts: readonly string[]): string {
  const written = (input: string) =>
    Object.entries(escapes).reduceRight((text, [sequence, sign]) => text.replaceAll(sign, sequence), input);
  const sections = page.turns.map(
    ({ name, input }, index) =>
      `## ${name}\n\n\`\`\`${language}\n${written(input)}\`\`\`\n\n\`\`\`text\n${texts[index]}\`\`\`\n`,
  );
  return page.start + sections.join("\n");
}

/** A scenario with a mistake, whose name is its problem's code, a dot and what is wrong. */
export interface WrongScenario {
  readonly code: ScenarioProblemCode;
  readonly text: string;
}

export const codeOf = (name: string) => name.split(".")[0]?.replaceAll("-", "_") as ScenarioProblemCode;

export const wrongScenarios: readonly WrongScenario[] = messagePages("scenario").flatMap(({ turns }) =>
  turns.map(({ name, input }) => ({ code: codeOf(name), text: input })),
);
