import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";

/** A plug: its files, and the lines of other files that name it. Without them, the rest compiles. */
interface Plug {
  readonly files: RegExp;
  readonly lines: RegExp;
}

const plugs: Readonly<Record<string, Plug>> = {
  // With what needs it: the page, agents, and replicas, which run each other's calls.
  "control plane": {
    files: /^src\/server\/control\/|^src\/dashboard\/|^src\/redis\/|\/(?:mcp|named-store)\.ts$/,
    lines: /control\/mount\.js|mountControl|\/(?:mcp|named-store)\.js/,
  },
  commands: {
    files: /^src\/cli\/story\/(?!step-line)|^src\/cli\/commands\/(?!(?:start|exec|keys|explain)\.ts)/,
    lines: /commands\/(?!start|exec|keys|explain)[\w/]+\.js"|printFitting/,
  },
  dashboard: { files: /^src\/dashboard\//, lines: /(?!)/ },
  collection: { files: /^src\/cli\/commands\/collection\.ts$/, lines: /commands\/collection\.js/ },
  check: { files: /^src\/check\/|^src\/cli\/commands\/check\.ts$/, lines: /commands\/check\.js/ },
  certify: {
    files: /^src\/certify\/|^src\/cli\/certify\/|^src\/cli\/commands\/certify\.ts$/,
    lines: /\/certify\.js|certify\/result\.js/,
  },
  "file state": {
    files: /^src\/log\/file\/|^src\/cli\/serve\/named-state\.ts$/,
    lines: /file\/file-log\.js|named-state\.js/,
  },
  interception: { files: /^src\/server\/sockets\/intercept\.ts$/, lines: /sockets\/intercept\.js/ },
  redis: { files: /^src\/redis\/|^src\/cli\/serve\/named-store\.ts$/, lines: /named-store\.js/ },
  reader: {
    files: /^src\/openapi\/|^src\/library\/entries\/openapi\.ts$/,
    lines: /openapi\/read-api\.js/,
  },
  capture: {
    files: /\/capture(?:-files)?\.ts$/,
    lines: /\/capture(?:-files)?\.js|captureWorld|captureRoute|writeCaptures|capture\(part|capture: missing/,
  },
  mcp: { files: /\/mcp\.ts$/, lines: /\/mcp\.js|mcpRoute/ },
  farmers: {
    files: /^src\/farmers\/|^src\/library\/entries\/farmers\.ts$|^src\/cli\/commands\/fixtures\.ts$/,
    lines: /farmers\/farmers\.js|makeFarmers|commands\/fixtures\.js/,
  },
};

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((file) => posix.join("src", file.replaceAll("\\", "/")))
  .filter((file) => /(?<!\.test)\.tsx?$/.test(file));
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);
const linesOf = (file: string) => (ts.sys.readFile(join(root, file)) ?? "").split("\n");
const host = ts.createCompilerHost(options);
const parsed = new Map<string, ts.SourceFile | undefined>();

/** What the compiler finds in the code without a plug: only in files that named it, because it reads each file on its own. */
function problemsWithout({ files: ofPlug, lines }: Plug): string[] {
  const kept = files.filter((file) => !ofPlug.test(file));
  expect(kept.length).toBeLessThan(files.length);
  const changed = new Map(
    kept
      .filter((file) => linesOf(file).some((line) => lines.test(line)))
      .map((file) => [join(root, file), linesOf(file).filter((line) => !lines.test(line))]),
  );
  const program = ts.createProgram(
    kept.map((file) => join(root, file)),
    { ...options, noUnusedLocals: false, noUnusedParameters: false },
    {
      ...host,
      fileExists: (path) => !ofPlug.test(posix.relative(root, path)) && host.fileExists(path),
      getSourceFile(path, ...rest) {
        const text = changed.get(path)?.join("\n");
        if (text !== undefined) return ts.createSourceFile(path, text, rest[0], true);
        if (!parsed.has(path)) parsed.set(path, host.getSourceFile(path, ...rest));
        return parsed.get(path);
      },
    },
  );
  const text = ({ file, messageText }: ts.Diagnostic) =>
    `${posix.relative(root, file?.fileName ?? "")}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  const unresolved = kept.flatMap((file) =>
    ts
      .preProcessFile((changed.get(join(root, file)) ?? linesOf(file)).join("\n"))
      .importedFiles.filter(({ fileName }) => fileName.startsWith("."))
      .map(({ fileName }) => posix.join(posix.dirname(file), fileName.replace(/\.js$/, ".ts")))
      .filter((imported) => ofPlug.test(imported))
      .map((imported) => `${file} imports ${imported}`),
  );
  const broken = [...changed.keys()].flatMap((file) => [
    ...program.getSemanticDiagnostics(program.getSourceFile(file)),
  ]);
  return [...unresolved, ...broken.map(text)];
}

test.each(Object.entries(plugs))("without the plug %s, everything else compiles", (_name, plug) => {
  expect(problemsWithout(plug)).toEqual([]);
});

test("the kernel, which is in no plug, has at most 25,000 lines", () => {
  const kernel = files.filter(
    (file) => !file.includes(".generated.") && !Object.values(plugs).some((plug) => plug.files.test(file)),
  );
  expect(kernel).toContain("src/spec/authorize.ts");
  // Without the last line's end, a file counts one line less.
  expect(kernel.reduce((sum, file) => sum + linesOf(file).length - 1, 0)).toBeLessThanOrEqual(25_000);
});
