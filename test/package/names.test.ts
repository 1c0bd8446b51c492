import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { pageNames, pageOf, root } from "../support/pages.js";

// A reader meets each name once, and an export has readers: both counts may only fall.

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((file) => `src/${file.replaceAll("\\", "/")}`)
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|generated/.test(file));

const declaration =
  /^(export )?(?:default )?(?:async )?(?:function|const|class|interface|type|enum|let) (\w+)/gm;
const importOf = /import\s+(?:type\s+)?(\{[^}]*\}|\*\s+as\s+\w+|\w+)\s+from\s+"(\.[^"]+)"/g;

/** The files that declare each name, and the exports by their file and name. */
const declaredIn = new Map<string, Set<string>>();
const exported: string[] = [];
/** How many files import each export; `*` stands for all of a file. */
const readers = new Map<string, number>();

const withoutEnd = (file: string) => file.replace(/\.[jt]sx?$/, "");

for (const file of files) {
  const text = readFileSync(join(root, file), "utf8");
  for (const [, clause = "", from = ""] of text.matchAll(importOf)) {
    const source = withoutEnd(posix.join(posix.dirname(file), from));
    for (const name of importedNames(clause)) {
      const key = `${source} ${name}`;
      readers.set(key, (readers.get(key) ?? 0) + 1);
    }
  }
  // The page is a program of its own, and has words of its own.
  if (file.startsWith("src/dashboard/")) continue;
  for (const [, isExported, name = ""] of text.matchAll(declaration)) {
    declaredIn.set(name, (declaredIn.get(name) ?? new Set()).add(file));
    if (isExported) exported.push(`${withoutEnd(file)} ${name}`);
  }
}

function importedNames(clause: string): string[] {
  if (!clause.startsWith("{")) return ["*"];
  const names = clause.slice(1, -1).split(",");
  return names.map((name) => name.trim().replace(/^type | as .*/g, "")).filter(Boolean);
}

test("few names are declared in more than one file", () => {
  // A command's own flags are `flags` in each of them.
  expect(declaredIn.get("flags")?.size).toBeGreaterThan(1);
  const twice = [...declaredIn].filter(([, places]) => places.size > 1);
  const listed = twice.map(([name, places]) => `${name}: ${[...places].join(", ")}`);
  expect(twice.length, listed.join("\n")).toBeLessThanOrEqual(mostTwice);
});

test("few exports have one reader: the others are what their room is for, or not exported", () => {
  const single = exported.filter((key) => readers.get(key) === 1 && !readers.has(`${key.split(" ")[0]} *`));
  expect(exported).toContain("src/rules/authorize authorize");
  expect(single.length, single.join("\n")).toBeLessThanOrEqual(mostSingle);
});

const mostTwice = 7;
const mostSingle = 400;

/** The files whose names may end in `Path` or `Paths`, each with the kind of its paths. */
const filesWithPaths: Readonly<Record<string, "HTTP" | "field" | "file">> = {
  "src/api/misplaced-keys.ts": "HTTP",
  "src/api/openapi.ts": "HTTP",
  "src/api/request-details.ts": "HTTP",
  "src/cli/commands/exec.ts": "HTTP",
  "src/compare/response.ts": "field",
  "src/dashboard/control/data.ts": "HTTP",
  "src/report/report.ts": "HTTP",
  "src/rules/outcomes.ts": "HTTP",
  "src/rules/request-path.ts": "HTTP",
  "src/scenario/format/endpoint-shapes.ts": "HTTP",
  "src/scenario/format/step-shapes.ts": "HTTP",
  "src/scenario/yaml.ts": "field",
  "src/schema/shape.ts": "field",
  "src/server/control/app.ts": "HTTP",
  "src/server/sockets/http-server.ts": "HTTP",
};

test("a path is the path of a request, a field or a file; the end of a request is an outcome", () => {
  const declared =
    /(?:\b(?:const|let|function|class|interface|type|readonly)\s+|#|[(,]\s*(?=\w+\??:))(?:\w*(?:Paths?|PathIds?)|paths)\b/;
  const texts = [...files, ...pageNames, "AGENTS.md", "CONTRIBUTING.md"].map(
    (file) => [file, pageOf(file)] as const,
  );
  const withPaths = texts.flatMap(([file, text]) =>
    file.startsWith("src/") && declared.test(text.replace(/^import [^;]+;$/gm, "")) ? file : [],
  );
  expect(withPaths.toSorted()).toEqual(Object.keys(filesWithPaths));
  const old = texts.flatMap(([file, text]) => (/promised paths?\b|path ids?\b/i.test(text) ? file : []));
  expect(old).toEqual([]);
});
