import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { install } from "../../scripts/install.js";
import { packProject } from "../../scripts/pack.js";

// The declarations in the tarball, as a compiler that checks them too (`skipLibCheck: false`) sees them.

const root = join(import.meta.dirname, "../..");
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-sandbox-types-"));
  const { tarball } = await packProject(folder);
  await install(join(folder, "alone"), [tarball]);
  await install(join(folder, "beside"), [tarball]);
  mkdirSync(join(folder, "beside/node_modules/@types"));
  for (const name of ["msw", "@types/node"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "beside/node_modules", name));
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const library = `
import { createSandbox, guard, parseScenario, SandboxError, type Sandbox, type Scenario } from "svc-sandbox";
export const sandbox = createSandbox({ scenario: "key-states" });
export const secret: string = sandbox.secret("active");
// @ts-expect-error: a ref that the scenario does not have
sandbox.secret("nobody");
export const parsed: Scenario = parseScenario("version: 1");
export const own: Sandbox = createSandbox({ scenario: parsed });
export const known = (error: unknown) => error instanceof SandboxError && error.code === "unknown_ref";
export const guarded = (request: Request) => guard(request, { sandbox }).caller?.key.ref;
`;
const otherDoors = `
import { setupServer } from "msw/node";
import { createHandlers, handlers, sandbox as ready } from "svc-sandbox/msw";
import { loadScenario, startServer, type SandboxServer } from "svc-sandbox/node";
export const server = setupServer(...handlers, ...createHandlers(ready, { baseUrl: "https://api.example" }));
export const start = async (): Promise<SandboxServer> => startServer({ scenario: (await loadScenario("x")).scenario });
`;

/**
 * Compiles a text in one of the two folders; returns what the compiler says of it and of our declarations.
 *
 * Other declarations are read and not judged: those of msw have errors of their own.
 */
function compile(
  text: string,
  place: "alone" | "beside",
  flags: ts.CompilerOptions,
  ending: string,
): string[] {
  const consumer = join(folder, place, `consumer.${ending}`);
  writeFileSync(consumer, text);
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true },
    ...{ target: ts.ScriptTarget.ES2022, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"] },
    types: place === "alone" ? [] : ["node"],
    ...flags,
  };
  const host = ts.createCompilerHost(options);
  host.getCurrentDirectory = () => join(folder, place);
  const program = ts.createProgram([consumer], options, host);
  const judged = program
    .getSourceFiles()
    .filter(({ fileName }) => fileName === consumer || fileName.includes("/node_modules/svc-sandbox/"));
  expect(judged.length).toBeGreaterThan(1);
  const diagnostics = judged.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  return [...program.getOptionsDiagnostics(), ...diagnostics].map(
    ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
  );
}

const { ModuleKind, ModuleResolutionKind } = ts;

test.each(["mts", "cts"])("svc-sandbox needs the types of no other package, in a .%s file", (ending) => {
  expect(compile(library, "alone", { module: ModuleKind.NodeNext }, ending)).toEqual([]);
});

test.each([
  [{ module: ModuleKind.Node16 }, "mts"],
  [{ module: ModuleKind.Node16 }, "cts"],
  [{ module: ModuleKind.NodeNext }, "cts"],
  [{ module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler }, "ts"],
  // What `--module commonjs` alone means up to TypeScript 5.
  [{ module: ModuleKind.CommonJS, moduleResolution: ModuleResolutionKind.Node10 }, "ts"],
])("all entry points compile with %j in a .%s file, beside msw and @types/node", (flags, ending) => {
  expect(compile(library + otherDoors, "beside", flags, ending)).toEqual([]);
});
