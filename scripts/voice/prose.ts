import { marked, type Token } from "marked";
import ts from "typescript";

/** A piece of prose, and the line of its file where it starts. */
export interface Prose {
  readonly text: string;
  readonly line: number;
  readonly kind: "page" | "comment" | "message";
}

const lineOf = (text: string, index: number) => text.slice(0, index).split("\n").length;

/** The prose of a page in Markdown: no code, no headings, no addresses. */
export function proseOfPage(page: string): Prose[] {
  const found: Prose[] = [];
  let index = 0;
  for (const token of marked.lexer(page.replace(/^---\n[\s\S]*?\n---\n/, ""))) {
    const line = lineOf(page, page.indexOf(token.raw, index));
    index = Math.max(index, page.indexOf(token.raw, index));
    if (["code", "html", "heading", "space"].includes(token.type)) continue;
    found.push({ text: wordsOf(token), line, kind: "page" });
  }
  return found;
}

// Line breaks stay, for the lines of what is found.
function wordsOf({ raw }: Token): string {
  return raw
    .replace(/```[\s\S]*?```|<!--[\s\S]*?-->/g, (part) => part.replace(/[^\n]/g, ""))
    .replace(/``[^`]+``|`[^`]+`/g, (code) => `CODE${"\n".repeat(code.split("\n").length - 1)}`)
    .replace(/\]\([^)\s]*\)|https?:\/\/\S+|[[*_]/g, " ")
    .replace(/^\s*(?:[-*]|\d+\.)\s/gm, "")
    .replace(/^\|[-: |]+\|$/gm, "")
    .replaceAll("|", " . ");
}

/** The comments, messages and texts of a source file; a message has three words at least. */
export function proseOfSource(source: string, isJsx: boolean): Prose[] {
  const kind = isJsx ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile("source", source, ts.ScriptTarget.Latest, false, kind);
  const found: Prose[] = [];
  const rest = source.split("");
  const add = (node: ts.Node, text: string) => {
    const start = node.getStart(file);
    for (let index = start; index < node.end; index += 1) if (rest[index] !== "\n") rest[index] = " ";
    if (/[a-z] [a-z]+ [A-Za-z]/i.test(text))
      found.push({ text, line: lineOf(source, start), kind: "message" });
  };
  const visit = (node: ts.Node): void => {
    const isCode = ts.isImportDeclaration(node) || ts.isRegularExpressionLiteral(node);
    if (isCode) add(node, "");
    else if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isJsxText(node))
      add(node, node.text);
    if (ts.isTemplateExpression(node)) {
      add(node.head, [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("CODE"));
      for (const { literal } of node.templateSpans) add(literal, "");
    }
    if (!isCode) ts.forEachChild(node, visit);
  };
  visit(file);
  for (const { 0: comment, index } of rest
    .join("")
    .matchAll(/\/\*[\s\S]*?\*\/|(?:(?:^|(?<=\s))\/\/.*\n?\s*)+/g)) {
    const code = /@example[\s\S]*?(?=\n\s*\* @|\*\/)/g;
    const text = comment
      .replace(code, (part) => part.replace(/[^\n]/g, ""))
      .replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)|\*\/$/gm, " ")
      .replace(/`[^`\n]+`|\{@link [^}]*\}/g, "CODE");
    found.push({ text, line: lineOf(source, index), kind: "comment" });
  }
  return found;
}
