import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import project from "../package.json" with { type: "json" };
import { freePort } from "../test/support/redis-server.js";
import { install } from "./install.js";
import { packProject } from "./pack.js";
import { ownEnvironment, runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Publishes the packed tarball to a registry on this machine, and installs it from there as users do: each time in an empty
// folder, with an empty home. No other registry is asked for its name. npm must not warn about it.

type Attempt = () => Promise<string | undefined>;

interface Manager {
  /** The package that it is, and its program in there. */
  readonly source: string;
  readonly program: string;
  /** Its words for `npm install --save-dev`, and for `npm exec`. */
  readonly add: readonly string[];
  readonly exec: readonly string[];
}

const ofNpm = { program: "npm/bin/npm-cli.js", add: ["install", "--save-dev"], exec: ["exec", "--"] };
const managers: readonly Manager[] = [
  { source: "npm@10.8.2", ...ofNpm },
  { source: "npm@11.21.2", ...ofNpm },
  { source: "pnpm@10.12.1", program: "pnpm/bin/pnpm.cjs", add: ["add", "--save-dev"], exec: ["exec"] },
  { source: "yarn@1.22.22", program: "yarn/bin/yarn.js", add: ["add", "--dev"], exec: ["exec", "--"] },
  {
    ...{ source: "@yarnpkg/cli-dist@4.18.1", program: "@yarnpkg/cli-dist/bin/yarn.js" },
    ...{ add: ["add", "--dev"], exec: ["exec"] },
  },
];

/** Packages that a project already has, and what an import of their entry point results in. */
const neighbors = [
  { name: "vitest@3.2.4", entry: "vitest", result: "Vitest failed to access its internal state" },
  { name: "undici@5.29.0", entry: "undici", result: "loaded" },
  { name: "msw@1.3.5", entry: "msw", result: "package_unusable" },
  { name: "@playwright/test@1.49.1", entry: "playwright", result: "loaded" },
];

/** Programs of a user, with the text that they must print. */
const imports = {
  "imports.mjs": `import { createSandbox } from "svc-sandbox"; console.log(createSandbox().name)`,
  "imports.cjs": `console.log(require("svc-sandbox").createSandbox().name)`,
};
const typed = {
  "typed.mts": `import { createSandbox } from "svc-sandbox";
const secret: string = createSandbox().secret("active");
console.log(secret.slice(0, 9));`,
  "typed.cts": `import svc = require("svc-sandbox");
const secret: string = svc.createSandbox().secret("active");
console.log(secret.slice(0, 9));`,
};

const root = fileURLToPath(new URL("..", import.meta.url));
const { name, version } = project;
const tally = createTally("install-check");
const folder = await mkdtemp(join(tmpdir(), "svc-sandbox-install-"));
let registry: ChildProcess | undefined;
try {
  const [{ tarball }, address] = await Promise.all([packProject(folder), startRegistry()]);
  await attempt("npm publish", async () => {
    // A registry that anyone may publish to takes any token, but npm wants one.
    const token = `--${address.replace("http:", "")}:_authToken=any`;
    return run("npm", ["publish", token, tarball], await newcomer(address));
  });
  await attempt("npx svc-sandbox, up to the first response", () => firstResponse(address));
  await Promise.all([...managers.map((manager) => tryManager(manager, address)), tryGit()]);
} finally {
  registry?.kill();
  await rm(folder, { recursive: true, force: true });
}
tally.close();

/** Starts a registry that has no package; it passes on other names than ours to the registry of this machine. */
async function startRegistry(): Promise<string> {
  const home = join(folder, "registry");
  await cp(fileURLToPath(new URL("tools/registry", import.meta.url)), home, { recursive: true });
  await install(home);
  const { stdout } = await runProgram("npm", ["config", "get", "registry"], { cwd: home });
  const config = `storage: ./storage
uplinks: { machine: { url: "${stdout.trim()}" } }
packages:
  ${name}: { access: $all, publish: $all }
  "**": { access: $all, proxy: machine }
log: { type: stdout, format: pretty, level: warn }
`;
  await writeFile(join(home, "config.yaml"), config);
  const address = `127.0.0.1:${await freePort()}`;
  const argv = ["node_modules/verdaccio/bin/verdaccio", "--config", "config.yaml", "--listen", address];
  registry = spawn(process.execPath, argv, { cwd: home, stdio: ["ignore", "pipe", "ignore"] });
  await firstLine(registry, /http address/);
  return `http://${address}/`;
}

/** The first line of a program's output that matches. Throws if the program ends before. */
async function firstLine(child: ChildProcess, pattern: RegExp): Promise<string> {
  for await (const line of createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })) {
    if (pattern.test(line)) return line;
  }
  throw new Error(`${child.spawnargs.join(" ")} ended before it printed ${pattern}`);
}

/** An empty folder, and an environment with an empty home, where every manager uses the registry on this machine. */
async function newcomer(address: string) {
  const home = await mkdtemp(join(folder, "home-"));
  const cwd = await mkdtemp(join(folder, "user-"));
  const env: Readonly<Record<string, string>> = {
    ...{ HOME: home, npm_config_userconfig: join(home, ".npmrc"), npm_config_cache: join(home, ".npm") },
    ...{ npm_config_registry: address, npm_config_update_notifier: "false" },
    ...{ YARN_REGISTRY: address, YARN_NPM_REGISTRY_SERVER: address, YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1" },
    // Yarn avoids packages that are younger than a day.
    YARN_NPM_MINIMAL_AGE_GATE: "0",
  };
  return { cwd, env };
}

/** Does what a newcomer does, and stops it. */
async function firstResponse(address: string): Promise<string | undefined> {
  const { cwd, env: own } = await newcomer(address);
  const env = { ...ownEnvironment(), ...own, SVC_SANDBOX_PORT: "0", SVC_SANDBOX_JSON: "1" };
  const child = spawn("npx", [name], {
    cwd,
    env,
    detached: true,
    timeout: 180_000,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const notes = text(child.stderr);
  try {
    const { base_url, keys } = JSON.parse(await firstLine(child, /^\{"event":"listening"/));
    const headers = { "x-api-key": keys.revoked };
    const { status } = await fetch(`${base_url}/v1/relying-party/me`, { headers });
    return status === 401 ? undefined : `a revoked key gets ${status}`;
  } catch (error) {
    return `${(error as Error).message}\n${await notes}`;
  } finally {
    if (child.exitCode === null) {
      process.kill(-(child.pid as number), "SIGTERM");
      await once(child, "close");
    }
  }
}

async function tryManager({ source, program, add, exec }: Manager, address: string): Promise<void> {
  const home = join(folder, source.replace(/\W+/g, "-"));
  await install(home, [source]);
  const own = join(home, "node_modules", program);
  const alone = await newcomer(address);
  const files = { "package.json": "{}", ...imports, ...typed };
  for (const [file, content] of Object.entries(files)) await writeFile(join(alone.cwd, file), content);
  await attempt(`${source}: ${add.join(" ")} ${name}, imports`, async () => {
    return (
      (await run(own, [...add, name], alone)) ??
      (await run(own, [...exec, name, "list"], alone, /^key-states /m)) ??
      (await run(own, [...exec, "node", "imports.mjs"], alone, /^key-states$/m)) ??
      (await run(own, [...exec, "node", "imports.cjs"], alone, /^key-states$/m))
    );
  });
  if (!source.startsWith("npm@")) return;
  await attempt(`${source}: npx ${name}@${version} list`, async () => {
    const argv = ["exec", "--yes", `${name}@${version}`, "list"];
    return run(own, argv, await newcomer(address), /^key-states /m);
  });
  await attempt(`${source}: TypeScript, as a module and as CommonJS`, async () => {
    const compiler = join(root, "node_modules/typescript/lib/tsc.js");
    const flags = ["--module", "nodenext", "--strict", "--target", "es2022"];
    return (
      (await run(compiler, [...flags, ...Object.keys(typed)], alone)) ??
      (await run(join(alone.cwd, "typed.mjs"), [], alone, /^SVC_test_$/m)) ??
      (await run(join(alone.cwd, "typed.cjs"), [], alone, /^SVC_test_$/m))
    );
  });
  for (const neighbor of neighbors) {
    await attempt(`${source}: next to ${neighbor.name}`, async () => {
      const user = await newcomer(address);
      return (
        (await run(own, ["install", "--ignore-scripts", neighbor.name], user)) ??
        (await run(own, ["install", name], user)) ??
        (await importIn(user.cwd, `${name}/${neighbor.entry}`, neighbor.result))
      );
    });
  }
}

async function tryGit(): Promise<void> {
  const title = "a git dependency";
  if (!existsSync(join(root, ".git"))) return tally.skip(title, "this is not a git clone");
  await attempt(title, async () => {
    const cwd = join(folder, "git");
    await install(cwd);
    const argv = ["install", "--no-audit", "--no-fund", `git+file://${root}`];
    const { code, output } = await runProgram("npm", argv, { cwd, timeout: 600_000 });
    return code === 0 ? importIn(cwd, name, "loaded") : output;
  });
}

/** Counts what an attempt returns, `undefined` for success, or throws. */
async function attempt(title: string, work: Attempt): Promise<void> {
  tally.count(title, await work().catch((error: Error) => error.message));
}

/** Runs a program; a file of JavaScript in Node. Returns what it printed if it fails, if npm warns about us, or without the expected text. */
async function run(
  program: string,
  argv: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  expected = /(?:)/,
): Promise<string | undefined> {
  const words = /\.[cm]?js$/.test(program) ? [process.execPath, program, ...argv] : [program, ...argv];
  const { code, output } = await runProgram(words[0] as string, words.slice(1), options);
  const isFine = code === 0 && expected.test(output) && !/^npm warn .*svc-sandbox(?!@)/im.test(output);
  return isFine ? undefined : `${argv.join(" ")} ended with ${code}:\n${output}`;
}

/** Imports an entry point in a project; returns what went wrong unless the result contains the expected text. */
async function importIn(cwd: string, entry: string, expected: string): Promise<string | undefined> {
  const code = `import("${entry}").then(() => "loaded", ({ code, message }) => code + " " + message).then(console.log)`;
  const { output } = await runProgram("node", ["-e", code], { cwd });
  return output.includes(expected) ? undefined : `expected ${expected}, got ${output}`;
}
