import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { install } from "../scripts/install.js";
import { packProject } from "../scripts/pack.js";
import { runProgram } from "../scripts/run-program.js";

// The declarations in the tarball, as the compiler of somebody who checks them too (`skipLibCheck: false`) sees them.

const root = join(import.meta.dirname, "..");
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

/** Compiles a text in one of the two folders; answers what the compiler says. */
async function compile(
  text: string,
  place: "alone" | "beside",
  flags: string,
  ending: string,
): Promise<string[]> {
  const cwd = join(folder, place);
  writeFileSync(join(cwd, `consumer.${ending}`), text);
  const strict = "--noEmit --strict --skipLibCheck false --exactOptionalPropertyTypes";
  const argv = [...`${strict} --target es2022 --lib ES2022,DOM ${flags}`.split(" "), `consumer.${ending}`];
  const { output } = await runProgram(join(root, "node_modules/.bin/tsc"), argv, { cwd });
  return output.split("\n").filter((line) => line !== "");
}

test.each(["mts", "cts"])("the door svc-sandbox needs nothing else, in a .%s file", async (ending) => {
  expect(await compile(library, "alone", "--module nodenext", ending)).toEqual([]);
});

test.each([
  ["--module node16", "mts"],
  ["--module node16", "cts"],
  ["--module nodenext", "cts"],
  ["--module esnext --moduleResolution bundler", "ts"],
  // What `--module commonjs` alone means up to TypeScript 5.
  ["--module commonjs --moduleResolution node10", "ts"],
])("all doors compile with %s in a .%s file, beside msw and @types/node", async (flags, ending) => {
  const said = await compile(library + otherDoors, "beside", flags, ending);
  // msw's own declarations have errors of their own, with `--module node16` in CommonJS for example.
  expect(said.filter((line) => !line.includes("/node_modules/msw/"))).toEqual([]);
});
