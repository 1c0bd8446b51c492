import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";

const mostLines = 80;

/** Files with longer functions, and the length of the longest one: a number only gets smaller. */
const longer: Readonly<Record<string, number>> = {
  "src/log/file-log.ts": 116,
  "src/log/kept-sandbox.ts": 91,
  "src/log/memory-log.ts": 101,
  "src/openapi/validator.ts": 88,
  "src/redis/followed-sandbox.ts": 140,
  "src/redis/redis-connection.ts": 198,
  "src/redis/redis-instances.ts": 206,
  "src/redis/redis-log.ts": 139,
  "src/redis/sandbox-copy.ts": 105,
};

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
      if (lines > (longer[file] ?? mostLines))
        found.push(`${file} ${name?.getText() ?? "a function"}: ${lines}`);
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
