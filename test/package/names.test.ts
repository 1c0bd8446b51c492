import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { entries, pageEntries } from "../../scripts/bundle.js";
import { pageNames, pageOf, root } from "../support/pages.js";

// A reader meets each name once, and an export has a reader.

const codeIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => /\.[jt]sx?$/.test(file) && !/node_modules|\.generated\./.test(file));

const isUnitTest = (file: string) => file.startsWith("src/") && /\.test\./.test(file);

const files = codeIn("src").filter((file) => !isUnitTest(file));
// Unit tests read what they test; any other file is a reader.
const readingFiles = [...files, ...["bench", "scripts", "test"].flatMap(codeIn)];

const declaration =
  /^(export )?(?:default )?(?:async )?(?:function|const|class|interface|type|enum|let) (\w+)/gm;
const importOf = /(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)\s+from\s+"(\.[^"]+)"/g;
const lazyImportOf = /\bimport\(\s*"(\.[^"]+)"/g;

// Those of pages have the names of those of Node.
const entryPoints = new Set<string>([entries, pageEntries].flatMap((of) => Object.values(of)));

/** The files that declare each name, and the exports by their file and name. */
const declaredIn = new Map<string, Set<string>>();
const exported: string[] = [];
/** What other files import, as in `exported`; `*` stands for all of a file. */
const imported = new Set<string>();

const withoutEnd = (file: string) => file.replace(/\.[jt]sx?$/, "");

for (const file of readingFiles) {
  const text = pageOf(file);
  const sourceOf = (from: string) => withoutEnd(posix.join(posix.dirname(file), from));
  for (const [, clause = "", from = ""] of text.matchAll(importOf)) {
    for (const name of importedNames(clause)) imported.add(`${sourceOf(from)} ${name}`);
  }
  for (const [, from = ""] of text.matchAll(lazyImportOf)) imported.add(`${sourceOf(from)} *`);
}

for (const file of files) {
  for (const [, isExported, name = ""] of pageOf(file).matchAll(declaration)) {
    if (isExported) exported.push(`${withoutEnd(file)} ${name}`);
    // The page is a program of its own, and has words of its own.
    if (file.startsWith("src/dashboard/")) continue;
    if (!entryPoints.has(file)) declaredIn.set(name, (declaredIn.get(name) ?? new Set()).add(file));
  }
}

function importedNames(clause: string): string[] {
  if (!clause.startsWith("{")) return ["*"];
  const names = clause.slice(1, -1).split(",");
  return names.map((name) => name.trim().replace(/^type | as .*/g, "")).filter(Boolean);
}

test("few names are declared in more than one file", () => {
  expect(declaredIn.size).toBeGreaterThan(1_000);
  const twice = [...declaredIn].filter(([, places]) => places.size > 1);
  const listed = twice.map(([name, places]) => `${name}: ${[...places].join(", ")}`);
  expect(twice.length, listed.join("\n")).toBeLessThanOrEqual(mostTwice);
});

test("no export is read only in its file and in unit tests: it is not exported, or moves to its reader", () => {
  const unread = exported.filter((name) => {
    const [file = ""] = name.split(" ");
    return !imported.has(name) && !imported.has(`${file} *`) && !entryPoints.has(`${file}.ts`);
  });
  expect(exported).toContain("src/api/authorize authorize");
  expect(unread).toEqual([]);
});

const mostTwice = 6;

/** The files whose names may end in `Path` or `Paths`, each with the kind of its paths. */
const filesWithPaths: Readonly<Record<string, "HTTP" | "field" | "file">> = {
  "src/api/handle.ts": "HTTP",
  "src/api/openapi.ts": "HTTP",
  "src/compare/response.ts": "field",
  "src/dashboard/control/data.ts": "HTTP",
  "src/report/how-to-cover.ts": "HTTP",
  "src/report/report.ts": "HTTP",
  "src/rules/keys/redact.ts": "HTTP",
  "src/rules/paths.ts": "HTTP",
  "src/scenario/format/inputs.ts": "HTTP",
  "src/scenario/format/schema.ts": "HTTP",
  "src/schema/shape.ts": "field",
  "src/server/control/access.ts": "HTTP",
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
