import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "./install.js";
import { packProject } from "./pack.js";
import { runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Installs the packed tarball with the npm versions of the supported Nodes: alone, next to packages that only some
// entry points can use, and as a git dependency. npm must not warn about it.

const npms = ["10.8.2", "10.9.9", "11.21.2"];

/** Packages that a project already has, and what an import of their entry point results in. */
const neighbors = [
  { name: "vitest@3.2.4", entry: "vitest", result: "Vitest failed to access its internal state" },
  { name: "undici@5.29.0", entry: "undici", result: "loaded" },
  { name: "msw@1.3.5", entry: "msw", result: "package_unusable" },
  { name: "@playwright/test@1.49.1", entry: "playwright", result: "loaded" },
];

const root = fileURLToPath(new URL("..", import.meta.url));
const tally = createTally("install-check");
const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-install-"));
try {
  const { tarball } = await packProject(folder);
  await Promise.all([...npms.map((version) => tryNpm(version, tarball)), tryGit()]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
tally.close();

async function tryNpm(version: string, tarball: string): Promise<void> {
  const home = join(folder, `npm-${version}`);
  await install(home, [`npm@${version}`]);
  const npm = [join(home, "node_modules/npm/bin/npm-cli.js")];
  const project = (name: string) => join(folder, `${version}-${name.replace(/\W+/g, "-")}`);
  await attempt(`npm ${version}: an empty project`, async () => {
    await install(project("alone"));
    await installQuietly(npm, tarball, project("alone"));
    return importIn(project("alone"), "svc-sandbox", "loaded");
  });
  await attempt(`npm ${version}: npx --package`, async () => {
    await install(project("npx"));
    // npx keeps what it installs in the cache, where the other versions of npm would meet it half written.
    const cache = join(folder, `${version}-cache`);
    const argv = [
      ...npm,
      "exec",
      "--cache",
      cache,
      `--package=${tarball}`,
      "--yes",
      "--",
      "svc-sandbox",
      "list",
    ];
    const { code, output } = await runProgram("node", argv, { cwd: project("npx") });
    return code === 0 ? undefined : output;
  });
  for (const { name, entry, result } of neighbors) {
    await attempt(`npm ${version}: next to ${name}`, async () => {
      await install(project(name), [name]);
      await installQuietly(npm, tarball, project(name));
      return importIn(project(name), `svc-sandbox/${entry}`, result);
    });
  }
}

async function tryGit(): Promise<void> {
  const title = "a git dependency";
  if (!existsSync(join(root, ".git"))) return tally.skip(title, "this is not a git clone");
  await attempt(title, async () => {
    const user = join(folder, "git");
    await install(user);
    const argv = ["install", "--no-audit", "--no-fund", `git+file://${root}`];
    const { code, output } = await runProgram("npm", argv, { cwd: user, timeout: 600_000 });
    return code === 0 ? importIn(user, "svc-sandbox", "loaded") : output;
  });
}

/** Counts what an attempt returns, `undefined` for success, or throws. */
async function attempt(title: string, work: () => Promise<string | undefined>): Promise<void> {
  tally.count(title, await work().catch((error: Error) => error.message));
}

/** Installs the tarball with npm's defaults; throws if npm fails or warns. */
async function installQuietly(npm: readonly string[], tarball: string, cwd: string): Promise<void> {
  const { code, output } = await runProgram("node", [...npm, "install", tarball], { cwd });
  if (code !== 0 || /^npm warn .*svc-sandbox/im.test(output)) throw new Error(output);
}

/** Imports an entry point in a project; returns what went wrong unless the result contains the expected text. */
async function importIn(cwd: string, entry: string, expected: string): Promise<string | undefined> {
  const code = `import("${entry}").then(() => "loaded", ({ code, message }) => code + " " + message).then(console.log)`;
  const { output } = await runProgram("node", ["-e", code], { cwd });
  return output.includes(expected) ? undefined : `expected ${expected}, got ${output}`;
}
