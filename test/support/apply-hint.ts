import { isMap, isScalar, type Node, type Pair, parseDocument } from "yaml";
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

/** A kind of hint: how it is written, the mistake that it is for, and how it is applied. */
export interface HintRow {
  readonly hint: RegExp;
  readonly mistake: string;
  /** Left out for a hint that leaves a choice to the reader, or names a rule. */
  readonly apply?: (applied: Applied) => string | undefined;
}

const quotedText = String.raw`"(?:[^"\\]|\\.)*"`;
const value = String.raw`\{.*?\}|\[.*\]|${quotedText}|[^\s{["]+?`;

/** The hints of scenarios, by the first row that has one. */
export const hintRows: readonly HintRow[] = [
  {
    hint: /^write (\w+: .+?), with an ordinary space after the colon$/,
    mistake: "`type bank` and `environment:test` in place of a mapping",
    apply: withValue,
  },
  { hint: /^write (\w+): \{ … \}$/, mistake: "`main { … }` without a colon", apply: withColon },
  {
    hint: /^put an ordinary space after it: (\w+): …$/,
    mistake: "`main:{ … }` without a space",
    apply: withSpace,
  },
  {
    hint: /^write (\w+: [\w.]+)$/,
    mistake: "`revoked: true` for `state: revoked`; `version:1`",
    apply: withField,
  },
  {
    hint: new RegExp(
      `^write (?:it in quotes: |a list: )?(${value})(?: without quotes)?(?: or .+|, .+ or .+)?$`,
    ),
    mistake: "a value of another type, unit, case or form",
    apply: withValue,
  },
  {
    hint: /^write it (?:in kebab-case|with the letters a to z, digits and hyphens): (\S+)$/,
    mistake: "a name in place of a ref",
    apply: withValue,
  },
  {
    hint: /^write (\S+) in place of (\S+)$/,
    mistake: "a path that encodes a letter",
    apply: ({ text, groups: [plain = "", encoded = ""] }) => text.replace(encoded, plain),
  },
  {
    hint: /^a path starts with \/ and is encoded: (\S+)$/,
    mistake: "an address, or signs that are not encoded",
    apply: withValue,
  },
  { hint: /^did you mean "?([^"? ]+)"?\?/, mistake: "a misspelled or another tool's word", apply: withValue },
  { hint: /^call it (\S+)$/, mistake: "a ref that is a word of stories", apply: withValue },
  { hint: /^put quotes around a text: (".*")$/, mistake: "a text that starts with *", apply: withToken },
  {
    hint: /^add (?:one: )?(\w+: (?:\{.*\}|[\w.]+))(?: or .+)?$/,
    mistake: "a field is missing",
    apply: withAdded,
  },
  {
    hint: /^(\w+) belongs in (\w+): \{ \w+: … \}$/,
    mistake: "a field one level too high",
    apply: insideAnother,
  },
  { hint: /^indent (\S+) by more spaces than \S+$/, mistake: "a member below its name", apply: indented },
  { hint: /^indent it to column (\d+), like .*$/, mistake: "a line that is below no other", apply: toColumn },
  { hint: /^indent this line with ordinary spaces$/, mistake: "a no-break space", apply: withOrdinarySpaces },
  {
    hint: /^indent with spaces; YAML does not allow tabs$/,
    mistake: "a tab",
    apply: ({ text }) => text.replaceAll("\t", "  "),
  },
  { hint: /^remove the dash(?:es)?$/, mistake: "a list of mappings in place of one", apply: withoutDashes },
  {
    hint: /^put a space after the dash: .*$/,
    mistake: "`-say: hello`",
    apply: ({ text }) => text.replace(/^(\s*)-(?=\w)/gm, "$1- "),
  },
  {
    hint: /^write the number without a comma$/,
    mistake: "`1,000`",
    apply: ({ text }) => text.replace(/(\d),(\d{3})/, "$1$2"),
  },
  { hint: /^close it with (["'])$/, mistake: "a quote that is not closed", apply: closed },
  {
    hint: /^close it with [}\]], or remove it$/,
    mistake: "a bracket that is not closed",
    apply: closedBracket,
  },
  { hint: /^remove (?:it|the tag|one of the two)(?:, or .*)?$/, mistake: "what is too much", apply: removed },
  { hint: /^write it as name: value, or remove it$/, mistake: "a line that is no field", apply: withoutLine },
  { hint: /^list it once$/, mistake: "a scope twice", apply: removed },
  // A rule, or a choice that only the reader can make.
  {
    hint: /^known fields here: |^did you mean .*\?$|^the (?:choices|format|requests) /,
    mistake: "an unknown field",
  },
  {
    hint: /^write an? |^write the |^write true or false|^write another |^write \w+: \w+(?:,| for) /,
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
    hint: /^add (?:one of|state:|replaced_by|p99$|the|an entry)|^give |^set |^name |^choose /,
    mistake: "something is missing",
  },
  {
    hint: /^R32 |^each rotation |^the requests of |^refs of keys |^keys of this |^lower |^split |^swap /,
    mistake: "a contradiction",
  },
  {
    hint: /^"\w+" can expect |^remove (?:key|some)|belongs next to|^extend a scenario|^each file/,
    mistake: "a contradiction",
  },
  {
    hint: /^start with |^put one scenario|^write a colon after|^write a plain name|^indent \w+: it belongs/,
    mistake: "no scenario",
  },
  { hint: /^write one line/, mistake: "a block of text with its line end" },
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

function withColon({ text, offset, groups: [name = ""] }: Applied): string {
  return replaced(text, offset + name.length, offset + name.length, ":");
}

function withSpace({ text, offset, groups: [name = ""] }: Applied): string {
  const rest = text.slice(offset).replace(/^([\w-]+)\s*:[^\S ]*/, "$1: ");
  return name === "" ? text : text.slice(0, offset) + rest;
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

function insideAnother({ text, offset, groups: [, owner = ""] }: Applied): string | undefined {
  const { key, value } = partAt(text, offset) ?? {};
  if (key?.range == null || !isScalar(value) || value.range == null) return undefined;
  const field = text.slice(key.range[0], value.range[1]);
  return replaced(text, key.range[0], value.range[1], `${owner}: { ${field} }`);
}

/** The line with a name, and those inside it, are moved to the right. */
function indented({ text, groups: [name = ""] }: Applied): string {
  return moved(
    text,
    text.split("\n").findIndex((line) => line.trim().startsWith(`${name}:`)),
    2,
  );
}

function toColumn({ text, problem, groups: [column = ""] }: Applied): string {
  return moved(text, (problem.line ?? 1) - 1, Number(column) - (problem.column ?? 1));
}

function moved(text: string, first: number, by: number): string {
  const lines = text.split("\n");
  const indent = lines[first]?.search(/\S/) ?? 0;
  const next = lines.findIndex(
    (line, index) => index > first && line.trim() !== "" && line.search(/\S/) <= indent,
  );
  const end = next === -1 ? lines.length : next;
  return lines
    .map((line, index) => {
      if (index < first || index >= end) return line;
      return by > 0 ? " ".repeat(by) + line : line.slice(-by);
    })
    .join("\n");
}

function withOrdinarySpaces({ text }: Applied): string {
  return text.replace(/^\s+/gm, (indent) => indent.replace(/[^\S\n]/g, " "));
}

function withoutDashes({ text, problem }: Applied): string {
  const lines = text.split("\n");
  const first = (problem.line ?? 1) - 1;
  const indent = lines[first]?.search(/\S/) ?? 0;
  return lines
    .map((line, index) => (index >= first && line.search(/\S/) === indent ? line.replace("-", " ") : line))
    .join("\n");
}

function closed({ text, offset, groups: [sign = ""] }: Applied): string {
  const rest = text.slice(offset).split("\n")[0] ?? "";
  const end = offset + rest.replace(/[\s,}\]]+$/, "").length;
  return replaced(text, end, end, sign);
}

/** Closed at the end of its line or of the text, or removed: what the reader sees to be right. */
function closedBracket({ text, problem, offset }: Applied): string {
  const closing = text[offset] === "{" ? "}" : "]";
  const lineEnd = offset + (text.slice(offset).split("\n")[0] ?? "").length;
  const brackets = text.slice(offset, lineEnd).search(/\s*[}\]]*$/) + offset;
  const texts = [
    replaced(text, lineEnd, lineEnd, closing),
    replaced(text, brackets, brackets, closing),
    text + closing,
  ];
  texts.push(removed({ text, problem, offset, groups: [] }));
  return texts.find((one) => parseDocument(one).errors.length === 0) ?? (texts[0] as string);
}

function removed({ text, problem, offset }: Applied): string {
  if (problem.hint === "remove the tag") return text.replace(/!!?\S+ /, "");
  const rest = /^(?:[\w:-]+(?:: [^,\n}\]]*)?|.)[^\S\n]*,?/.exec(text.slice(offset))?.[0] ?? "";
  return replaced(text, offset, offset + rest.length, "").replace(/, ?(?=[}\]])/, "");
}

function withoutLine({ text, problem }: Applied): string {
  return text
    .split("\n")
    .toSpliced((problem.line ?? 1) - 1, 1)
    .join("\n");
}
