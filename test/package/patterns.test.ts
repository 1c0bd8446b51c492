import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { analyse } from "scslre";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";

// A regular expression that tries each place of a text, and from each reads on to its end, takes quadratic time: a header of 60 kB
// blocked the server for seconds. scslre finds such patterns. It does not see those that begin with a fixed sign and may contain
// it, such as `"(?:[^"\\]|\\.)*"`.

/** The patterns that take quadratic time, by file, each with the longest text that can reach it. At 2,000 characters, one takes 5 ms. */
const shortTextsOnly: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "src/cli/commands/play.ts": { "\\s*\\n\\s*": "`longestNarration`: 2,000 characters" },
  "src/dashboard/control/call.ts": { "^#token=([^&]+)&?(.*)$": "the fragment of the page's own URL" },
  "src/dashboard/elements/words.tsx": { ".*[\\\\/]": "the name of a file: 4,096 characters" },
  "src/node/clients/control-client.ts": {
    "\\/+$": "a URL of the user's own command line",
  },
  "src/library/base-url.ts": { "[/?#]+$": "a URL of the user's own command line or code" },
  "src/scenario/format/fields.ts": { "-+$": "`slice` in front of it: 64 characters" },
  "src/server/sockets/tls.ts": { "%.*$": "a name of --host or --allow-host" },
};

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => /(?<!\.test|\.generated)\.tsx?$/.test(file))
  .map((file) => `src/${file}`);

const parsed = new Map<string, ts.SourceFile>();
function parse(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  parsed.set(file, source);
  return source;
}

/** The pattern and the flags of a literal. */
function partsOf({ text }: ts.RegularExpressionLiteral): { source: string; flags: string } {
  const end = text.lastIndexOf("/");
  return { source: text.slice(1, end), flags: text.slice(end + 1) };
}

/** The text of an expression that makes a pattern, such as a template of other patterns; `undefined` if only a run knows it. */
function textOf(node: ts.Expression, file: string): string | undefined {
  if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return node.text;
  if (ts.isRegularExpressionLiteral(node)) return partsOf(node).source;
  if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node)) return textOf(node.expression, file);
  if (ts.isIdentifier(node)) return textOfName(node.text, file);
  if (ts.isNewExpression(node)) return node.arguments?.[0] && textOf(node.arguments[0], file);
  if (ts.isPropertyAccessExpression(node)) {
    return node.name.text === "source" ? textOf(node.expression, file) : undefined;
  }
  if (ts.isCallExpression(node)) return textOfJoined(node, file);
  if (ts.isTaggedTemplateExpression(node)) {
    const { template } = node;
    if (!ts.isTemplateExpression(template)) return template.getText().slice(1, -1);
    return textOfParts(template, file, (part) => part.rawText ?? part.text);
  }
  if (ts.isTemplateExpression(node)) return textOfParts(node, file, (part) => part.text);
  return undefined;
}

/** The text of `[one, other].join("|")`. */
function textOfJoined({ expression }: ts.CallExpression, file: string): string | undefined {
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== "join") return undefined;
  if (!ts.isArrayLiteralExpression(expression.expression)) return undefined;
  const texts = expression.expression.elements.map((element) => textOf(element, file));
  return texts.includes(undefined) ? undefined : texts.join("|");
}

/** The text of a template, with the texts of its expressions. */
function textOfParts(
  { head, templateSpans }: ts.TemplateExpression,
  file: string,
  read: (part: ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail) => string,
): string | undefined {
  let text = read(head);
  for (const { expression, literal } of templateSpans) {
    const inserted = textOf(expression, file);
    if (inserted === undefined) return undefined;
    text += inserted + read(literal);
  }
  return text;
}

/** The text of a constant of a file, or of one that it imports. */
function textOfName(name: string, file: string): string | undefined {
  for (const statement of parse(file).statements) {
    if (ts.isVariableStatement(statement)) {
      for (const declared of statement.declarationList.declarations) {
        if (declared.name.getText() === name && declared.initializer) {
          return textOf(declared.initializer, file);
        }
      }
    }
    if (!ts.isImportDeclaration(statement)) continue;
    const { text: from } = statement.moduleSpecifier as ts.StringLiteral;
    const isImported = statement.importClause?.namedBindings?.getText().match(new RegExp(`\\b${name}\\b`));
    if (isImported && from.startsWith(".")) {
      return textOfName(name, join(dirname(file), from.replace(/\.js$/, ".ts")));
    }
  }
  return undefined;
}

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** The patterns of a file: its literals, and those that it makes of texts. */
function patternsOf(file: string): { readonly patterns: Pattern[]; readonly unread: string[] } {
  const patterns: Pattern[] = [];
  const unread: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) patterns.push(partsOf(node));
    const isMade = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (isMade && /^(?:RegExp|unicodePattern)$/.test(node.expression.getText())) {
      const [argument, flags] = node.arguments ?? [];
      const source = argument && textOf(argument, file);
      if (source === undefined) unread.push(file);
      else patterns.push({ source, flags: flags && ts.isStringLiteralLike(flags) ? flags.text : "" });
    }
    ts.forEachChild(node, visit);
  };
  visit(parse(file));
  return { patterns, unread };
}

/** Patterns that only a run knows, by file. */
const madeInARun: Readonly<Record<string, string>> = {
  "src/integrations/msw-handlers.ts": "the escaped base URL of the user's tests",
  "src/rules/keys/find-keys.ts": "a prefix of a key, then its characters",
  "src/rules/keys/redact.ts": "an encoded prefix of a key, then all that follows",
  "src/rules/outcomes.ts": "a status, then a name",
  "src/scenario/format/schema.ts": "fixed names, then a name",
  "src/schema/words.ts": "the argument of a call, which is checked there",
};

/** A character of each set of Unicode that refa does not know. */
const characterOfSet: Readonly<Record<string, string>> = {
  EMod: "\\u{1F3FB}",
  DI: "\\u{34F}",
  RI: "\\u{1F1E6}",
  ExtPict: "\\u{1F600}",
};
const withKnownSets = (source: string) =>
  source.replace(/\\p\{(\w+)\}/g, (set, name) => characterOfSet[name] ?? set);

test("no regular expression takes quadratic time for a text that may be long", () => {
  const quadratic: string[] = [];
  const allowed: string[] = [];
  const unread: string[] = [];
  for (const file of files) {
    const found = patternsOf(file);
    unread.push(...found.unread);
    for (const { source, flags } of found.patterns) {
      const { reports } = analyse({ source: withKnownSets(source), flags });
      if (reports.length === 0) continue;
      const isExponential = reports.some(({ exponential }) => exponential);
      const isAllowed = !isExponential && shortTextsOnly[file]?.[source] !== undefined;
      (isAllowed ? allowed : quadratic).push(`${file}: ${source}`);
    }
  }
  expect(quadratic).toEqual([]);
  expect(unread.sort()).toEqual(Object.keys(madeInARun).sort());
  // An entry of the list has its pattern.
  const listed = Object.entries(shortTextsOnly).flatMap(([file, patterns]) =>
    Object.keys(patterns).map((source) => `${file}: ${source}`),
  );
  expect([...new Set(allowed)].sort()).toEqual(listed.sort());
});
