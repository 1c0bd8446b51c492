import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Bundles a program into one file of a folder that has nothing of the package. */
async function bundled(contents: string, format: "esm" | "cjs"): Promise<string> {
  const file = join(temporaryFolder(), format === "esm" ? "app.mjs" : "app.cjs");
  const entry = join(root, "entry.js");
  const plugin = {
    name: "entry",
    resolveId: (id: string) => (id === entry ? id : null),
    load: (id: string) => (id === entry ? contents : null),
  };
  const bundle = await rolldown({ cwd: root, input: entry, platform: "node", plugins: [plugin] });
  await bundle.write({ file, format, codeSplitting: false });
  await bundle.close();
  return file;
}

const fromPackage = `(path) => require("node:fs").readFileSync(${JSON.stringify(`${root}/`)} + path)`;
const served = `
const { startServer, setPackageReader } = LIBRARY;
const run = async () => {
  const statuses = async () => {
    const server = await startServer();
    const headers = { "x-api-key": server.sandbox.secret("active") };
    const paths = ["/v1/relying-party/me", "/__sandbox/health", "/__sandbox/"];
    const all = paths.map(async (path) => (await fetch(server.url + path, { headers })).status);
    const responses = await Promise.all(all);
    await server.close();
    return responses;
  };
  const without = await statuses();
  setPackageReader(${fromPackage.replace('require("node:fs")', 'process.getBuiltinModule("fs")')});
  console.log(JSON.stringify({ without, withReader: await statuses() }));
};
run();`;

test.each([
  ["import", "esm"],
  ["require", "cjs"],
] as const)("a bundle by %s as %s runs anywhere, and its reader provides the pages", async (kind, format) => {
  const program =
    kind === "require"
      ? served.replace("LIBRARY", 'require("svc-sandbox/node")')
      : `import * as library from "svc-sandbox/node";${served.replace("LIBRARY", "library")}`;
  const file = await bundled(program, format);
  const printed = JSON.parse(execFileSync(process.execPath, [file], { encoding: "utf8" }));
  expect(printed).toEqual({ without: [200, 200, 404], withReader: [200, 200, 200] });
});

test("the ES entry for msw is bundled to CommonJS, which cannot wait for a package", async () => {
  const file = await bundled(
    `import { setupServer } from "msw/node"; import { createSandbox } from "svc-sandbox";
    import { createHandlers } from "svc-sandbox/msw";
    const sandbox = createSandbox();
    setupServer(...createHandlers(sandbox)).listen({ onUnhandledRequest: "error" });
    const headers = { "x-api-key": sandbox.secret("revoked") };
    fetch("https://api.example/v1/relying-party/me", { headers }).then(({ status }) => console.log(status));`,
    "cjs",
  );
  expect(execFileSync(process.execPath, [file], { encoding: "utf8" })).toBe("401\n");
});

test("the command runs as one file, and its reader provides the bundled scenarios", async () => {
  const file = await bundled(
    `const { cli, processIo, setPackageReader } = require("./dist/cjs/cli.js");
    setPackageReader(${fromPackage});
    cli(process.argv.slice(2), processIo(process)).then((code) => { process.exitCode = code; });`,
    "cjs",
  );
  const run = (...argv: string[]) => execFileSync(process.execPath, [file, ...argv], { encoding: "utf8" });
  expect(run("show", "key-states")).toContain("version: 1\n");
  expect(run("--version")).toMatch(/^\d+\.\d+\.\d+(-next\.\d+)?\n$/);
});

test("an uncaught error of the library shows its line and its message", () => {
  const file = join(temporaryFolder(), "app.cjs");
  const built = JSON.stringify(join(root, "dist/cjs/index.js"));
  writeFileSync(file, `require(${built}).createSandbox({ scenario: "nope" });`);
  const { stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  expect(stderr).toMatch(/^\S+\.js:\d+\n\t*throw .*\n\t*\^\n\n/);
  expect(stderr).toContain("nope");
  expect(stderr.length).toBeLessThan(3000);
});
