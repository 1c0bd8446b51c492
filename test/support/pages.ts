import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** The pages that users read: README.md, and those of docs/. */
export const pageNames = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

export function pageOf(name: string): string {
  return readFileSync(join(root, name), "utf8");
}

export interface Block {
  readonly page: string;
  /** The heading above it, and its number on the page. */
  readonly title: string;
  readonly language: string;
  readonly text: string;
}

/** The anchor of a heading, as the hosts of Markdown make it. */
export function anchorOf(title: string): string {
  const plain = title.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  return plain.replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");
}

/** The blocks of code of a page, in order. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let heading = "";
  for (const [, title, language, text] of pageOf(page).matchAll(/^#+ (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else {
      const number = blocks.length + 1;
      blocks.push({
        page,
        title: `${page}, ${heading} (${number})`,
        language: language ?? "",
        text: text ?? "",
      });
    }
  }
  return blocks;
}

/** The only block of a page in a language with these words in it. */
export function blockWith(page: string, language: string, words = ""): string {
  const found = blocksOf(page).filter((one) => one.language === language && one.text.includes(words));
  if (found.length !== 1) throw new Error(`${page} has ${found.length} blocks of ${language} with ${words}`);
  return (found[0] as Block).text;
}

/** The text under each heading of a page, up to the next heading of the same or a higher level. */
export function sectionOf(page: string, heading: string): string {
  const [, level = "", rest = ""] =
    new RegExp(`^(#+) ${heading.replace(/[.*+?^$()|[\]\\]/g, "\\$&")}\\n([\\s\\S]*)`, "m").exec(
      pageOf(page),
    ) ?? [];
  if (level === "") throw new Error(`${page} has no heading ${heading}`);
  return rest.split(new RegExp(`^#{1,${level.length}} `, "m"))[0] as string;
}

export type Part = () => string | Promise<string>;

/** A page with these parts, which stand between `<!-- name -->` and `<!-- /name -->`, made anew. */
export async function withParts(page: string, parts: Readonly<Record<string, Part>>): Promise<string> {
  let text = pageOf(page);
  for (const [name, part] of Object.entries(parts)) {
    const place = new RegExp(`(?<=<!-- ${name} -->\n)[\\s\\S]*?(?=<!-- /${name} -->)`);
    if (!place.test(text)) throw new Error(`${page} has no place for ${name}`);
    const made = await part();
    text = text.replace(place, () => `\n${made}\n\n`);
  }
  return text;
}

/** The JSON Schema of a scenario, as the package has it. */
export const scenarioSchema = () => JSON.parse(pageOf("dist/scenario.schema.json"));

/** The names of all members that a JSON Schema describes, those of `skipped` members left out. */
export function membersIn(schema: unknown, skipped: readonly string[] = []): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([word, value]) => {
    if (word !== "properties") return membersIn(value, skipped);
    const members = Object.entries(value as object).filter(([name]) => !skipped.includes(name));
    return members.flatMap(([name, member]) => [name, ...membersIn(member, skipped)]);
  });
}

/** A table in Markdown, its header first. */
export function table(...rows: readonly (readonly string[])[]): string {
  const [header = [], ...others] = rows;
  const [first = "", ...lines] = [header, ...others].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`,
  );
  return [first, `|${"---|".repeat(header.length)}`, ...lines].join("\n");
}

export function code(value: unknown): string {
  if (Array.isArray(value)) return value.map(code).join(", ");
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

/** The words in code of a text's prose, without its tables, that may be members: `next_request`, `performed.secret`. */
export function memberWordsIn(text: string): string[] {
  const prose = text.replace(/^\|.*$|^```[\s\S]*?^```$/gm, "");
  const words = [...prose.matchAll(/`([a-z]\w*(?:\.[a-z]\w*)*)`/g)].map(([, word = ""]) => word);
  return words.flatMap((word) => word.split("."));
}

/** The names of a value's members at every level, and its texts. */
export function wordsOfValue(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.values(value).flatMap(wordsOfValue);
  return Array.isArray(value) ? inside : [...Object.keys(value), ...inside];
}
