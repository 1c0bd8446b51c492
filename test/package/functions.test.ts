import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";

const mostLines = 80;

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((file) => `src/${file.replaceAll("\\", "/")}`)
  .filter((file) => /(?<!\.test|\.generated)\.tsx?$/.test(file) && !file.startsWith("src/dashboard/"));

/** The functions of a file with more lines than allowed, as `name: lines`. */
function longFunctionsOf(file: string): string[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const lineAt = (place: number) => source.getLineAndCharacterOfPosition(place).line;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const lines = lineAt(node.end) - lineAt(node.getStart()) + 1;
      const { name = (node.parent as { readonly name?: ts.Node }).name } = node;
      if (lines > mostLines) found.push(`${file} ${name?.getText() ?? "a function"}: ${lines}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test(`no function outside the dashboard has more than ${mostLines} lines`, () => {
  expect(files.length).toBeGreaterThan(200);
  expect(files.flatMap(longFunctionsOf)).toEqual([]);
});
