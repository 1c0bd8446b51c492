import { isMap, type Node, type Pair, parseDocument } from "yaml";
import type { ScenarioProblem } from "../../src/index.js";

/** A text with a problem, whose hint is applied to it literally. */
interface Applied {
  readonly text: string;
  readonly problem: ScenarioProblem;
  /** The place of the problem in the text. */
  readonly offset: number;
  /** The groups of the hint's pattern. */
  readonly groups: readonly string[];
}

/** A kind of hint: how it is written, and the mistake that it is for. */
interface Hint {
  readonly hint: RegExp;
  readonly mistake: string;
}

/** A guess at what was meant, which mends the mistake as it is written. */
interface MendingHint extends Hint {
  /** The habit that makes the mistake common: nothing guesses at a mistake that is seldom. */
  readonly habit: string;
  readonly apply: (applied: Applied) => string | undefined;
}

/** A rule, or a choice that only the reader can make. */
interface RulingHint extends Hint {
  readonly apply?: undefined;
}

export type HintRow = MendingHint | RulingHint;

const quotedText = String.raw`"(?:[^"\\]|\\.)*"`;
const value = String.raw`\{.*?\}|\[.*\]|${quotedText}|[^\s{["]+?`;

/** The hints of scenarios, by the first row that has one. */
export const hintRows: readonly HintRow[] = [
  {
    hint: /^write (\w+: [\w.]+)$/,
    mistake: "`code: 404`",
    habit: "other tools call a status a code",
    apply: withField,
  },
  {
    hint: new RegExp(`^write (?:a list: )?(${value})(?: without quotes)?(?: or .+|, .+ or .+)?$`),
    mistake: '`version: "1"`, `scopes: attestations:read`, `overlap: 90`, `name: Banks: two`',
    habit:
      "Compose quotes its version; YAML reads colons; OAuth has scopes in a text; other tools count in seconds",
    apply: withValue,
  },
  {
    hint: /^write it in quotes$/,
    mistake: "`name: 2024`",
    habit: "YAML reads numbers and flags",
    apply: inQuotes,
  },
  {
    hint: /^write it in kebab-case, such as (\S+)$/,
    mistake: "a name in place of a ref",
    habit: "people name things as they call them: Main Key, mainKey",
    apply: withValue,
  },
  {
    hint: /^did you mean "?([^"? ]+)"?\?/,
    mistake: "a misspelled word, or `perMinute`",
    habit: "typing, and the spelling of JSON and JavaScript",
    apply: withValue,
  },
  {
    hint: /^call it (\S+)$/,
    mistake: "a ref that is a word of stories",
    habit: "a key that nobody knows is called unknown",
    apply: withValue,
  },
  {
    hint: /^variables are not replaced here: /,
    mistake: "a variable such as `$SEED`, which other tools replace before they read YAML",
  },
  {
    hint: /^add (?:one: )?(\w+: (?:\{.*\}|[\w.]+))(?: or .+)?$/,
    mistake: "a field is missing",
    habit: "only the fields are written that seem to matter",
    apply: withAdded,
  },
  {
    hint: /^indent with spaces; YAML does not allow tabs$/,
    mistake: "a tab",
    habit: "editors indent with tabs",
    apply: ({ text }) => text.replaceAll("\t", "  "),
  },
  {
    hint: /^remove (?:it|the tag|one of the two)(?:, or .*)?$/,
    mistake: "what is too much",
    habit: "a line is copied twice; other tools have tags of their own, such as !secret",
    apply: removed,
  },
  { hint: /^list it once$/, mistake: "a scope twice", habit: "lists are merged by hand", apply: removed },
  // A rule, or a choice that only the reader can make.
  {
    hint: /^known fields here: |^did you mean .*\?$|^the (?:choices|format|requests) /,
    mistake: "an unknown field",
  },
  {
    hint: /^write an? |^write one line |^write the |^write true or false|^write at most |^write another |^write \w+: \w+(?:,| for) /,
    mistake: "a value of no known form",
  },
  {
    hint: /^write it with the letters|^start it with |^use key: |^put (?:a code or an id|it) in quotes/,
    mistake: "a text of another form",
  },
  {
    hint: /^there is no |^(?:a|an) .+ (?:causes|cause|has|lasts) |^fields of /,
    mistake: "what no scenario has",
  },
  {
    hint: /^add (?:one of|state:|replaced_by|p99$|ref$|the|an entry)|^give |^set |^name |^choose /,
    mistake: "something is missing",
  },
  {
    hint: /^R32 |^each rotation |^the requests of |^refs of keys |^keys of this |^lower |^split |^swap /,
    mistake: "a contradiction",
  },
  {
    hint: /^"\w+" can expect |^remove (?:key|some)|^extend a scenario|^each file/,
    mistake: "a contradiction",
  },
  {
    hint: /^start with |^put one scenario|^put (?:double )?quotes |^write an? (?:comma|ordinary) |^write it as name|^write each segment/,
    mistake: "no YAML, or a text that is none; src/scenario/yaml/parse-yaml.test.ts applies these",
  },
  { hint: /^close |^indent |^write a plain name/, mistake: "no YAML; the same" },
];

/** A text with its problem mended; `undefined` if the hint does not fit the text. */
export function applied(
  text: string,
  problem: ScenarioProblem,
): { row: HintRow; text: string | undefined } | undefined {
  const { hint = "", line = 1, column = 1 } = problem;
  for (const row of hintRows) {
    const [match, ...groups] = row.hint.exec(hint) ?? [];
    if (match === undefined) continue;
    const offset = offsetOf(text, line) + column - 1;
    return { row, text: row.apply?.({ text, problem, offset, groups }) };
  }
  return undefined;
}

function offsetOf(text: string, line: number): number {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .slice(0, line - 1);
  return lines.join("\n").length + (line > 1 ? 1 : 0) + (text.startsWith("\uFEFF") ? 1 : 0);
}

function replaced(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

/** The pair or the item at a place, by the start of its name or of its value. */
function partAt(text: string, offset: number): { key?: Node; value?: Node | null } | undefined {
  const shift = text.startsWith("\uFEFF") ? 1 : 0;
  let found: { key?: Node; value?: Node | null } | undefined;
  const visit = (node: unknown): void => {
    if (isMap(node)) {
      for (const pair of node.items as Pair<Node, Node | null>[]) {
        const starts = [pair.key.range?.[0], pair.value?.range?.[0]];
        if (starts.includes(offset - shift)) found = { key: pair.key, value: pair.value };
        visit(pair.value);
      }
    } else if (typeof node === "object" && node !== null && "items" in node) {
      for (const item of node.items as Node[]) {
        if (item?.range?.[0] === offset - shift) found = { value: item };
        visit(item);
      }
    }
  };
  visit(parseDocument(text, { stringKeys: true }).contents);
  return found;
}

/** The name or the value at the place becomes the fix. */
function withValue({ text, problem, offset, groups: [fix = ""] }: Applied): string | undefined {
  if (problem.code === "yaml_syntax") return withToken({ text, problem, offset, groups: [fix] });
  const part = partAt(text, offset);
  const isOfName = problem.code === "unknown_field" || part?.key?.range?.[0] === offset;
  const node = isOfName ? part?.key : part?.value;
  // A text that is no YAML has no nodes.
  if (node?.range == null) return withToken({ text, problem, offset, groups: [fix] });
  const isBlock = isOfName === false && text.slice(node.range[0], node.range[1]).includes("\n");
  return replaced(text, node.range[0], node.range[1], isBlock ? `${fix}\n` : fix);
}

/** The value at the place gets quotes. */
function inQuotes({ text, offset }: Applied): string | undefined {
  const [start, end] = partAt(text, offset)?.value?.range ?? [];
  if (start === undefined || end === undefined) return undefined;
  return replaced(text, start, end, `"${text.slice(start, end)}"`);
}

/** The text at the place, without its quotes, becomes the same text in quotes. */
function withToken({ text, offset, groups: [fix = ""] }: Applied): string {
  const plain = fix.startsWith('"') ? (JSON.parse(fix) as string) : fix;
  const around = text[offset] === "'" ? 1 : 0;
  return replaced(text, offset, offset + plain.length + 2 * around, fix);
}

/** The whole field, or the rest of the line, becomes the fix. */
function withField({ text, offset, groups: [fix = ""] }: Applied): string {
  const part = partAt(text, offset);
  const end = part?.value?.range?.[1] ?? part?.key?.range?.[1];
  const restOfLine = text.slice(offset).split("\n")[0] ?? "";
  return replaced(text, offset, end ?? offset + restOfLine.length, fix);
}

/** The field is added to the mapping at the place. */
function withAdded({ text, problem, offset, groups: [field = ""] }: Applied): string | undefined {
  const isTop = !problem.field.includes(".");
  if (isTop) return `${field}\n${text}`.replace(/^organizations: .*\n(?=[\s\S]*^organizations:)/m, "");
  const { value } = partAt(text, offset) ?? {};
  if (!isMap(value) || value.range == null) return undefined;
  const [start] = value.range;
  if (text[start] === "{") {
    return replaced(text, start + 1, start + 1, value.items.length > 0 ? ` ${field},` : ` ${field} `);
  }
  const indent = start - text.lastIndexOf("\n", start) - 1;
  return replaced(text, start, start, `${field}\n${" ".repeat(indent)}`);
}

function removed({ text, problem, offset }: Applied): string {
  if (problem.hint === "remove the tag") return text.replace(/!!?\S+ /, "");
  const rest = /^(?:[\w:-]+(?:: [^,\n}\]]*)?|.)[^\S\n]*,?/.exec(text.slice(offset))?.[0] ?? "";
  return replaced(text, offset, offset + rest.length, "").replace(/, ?(?=[}\]])/, "");
}
