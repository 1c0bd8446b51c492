import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import project from "../package.json" with { type: "json" };
import { freePort } from "../test/support/free-port.js";
import { install } from "./install.js";
import { packProject } from "./pack.js";
import { firstLine, mustRun, ownEnvironment, root, runProgram } from "./run-program.js";
import { createTally } from "./tally.js";

// Publishes the tarball to a registry on this machine, and installs it as users do, each time with an empty home.

interface Manager {
  /** The package that it is, and its program in there. */
  readonly source: string;
  readonly program: string;
  /** Its words for `npm install --save-dev`, and for `npm exec`. */
  readonly add: readonly string[];
  readonly exec: readonly string[];
}

const yarn = { add: ["add", "--dev"], exec: ["exec", "--"] };
const npm = { program: "npm/bin/npm-cli.js", add: ["install", "--save-dev"], exec: ["exec", "--"] };
const managers: readonly Manager[] = [
  { source: "npm@10.8.2", ...npm },
  { source: "npm@11.21.2", ...npm },
  { source: "pnpm@10.12.1", program: "pnpm/bin/pnpm.cjs", add: ["add", "--save-dev"], exec: ["exec"] },
  { source: "yarn@1.22.22", program: "yarn/bin/yarn.js", ...yarn },
  { source: "@yarnpkg/cli-dist@4.18.1", program: "@yarnpkg/cli-dist/bin/yarn.js", ...yarn },
];

/** Packages that a project may already have, and what an import of their entry point results in. */
const neighbors = [
  { source: "vitest@3.2.4", entry: "vitest", result: /^Vitest failed to access its internal state/m },
  { source: "msw@1.3.5", entry: "msw", result: /^package_unusable$/m },
];

const files = {
  "package.json": "{}",
  "import.mjs": `import { createSandbox } from "svc-sandbox"; console.log(createSandbox().name)`,
  "require.cjs": `console.log(require("svc-sandbox").createSandbox().name)`,
  "entry.mjs": `import("svc-sandbox/" + process.argv[2])
  .then(() => "loaded", ({ code, message }) => code ?? message).then(console.log);`,
  "typed.mts": `import { createSandbox } from "svc-sandbox";
const name: string = createSandbox().name; console.log(name);`,
  "typed.cts": `import svc = require("svc-sandbox");
const name: string = svc.createSandbox().name; console.log(name);`,
};
const scenario = /^key-states\b/m;

const compiler = join(root, "node_modules/typescript/lib/tsc.js");
const strictly = ["--module", "nodenext", "--target", "es2022", "--strict"];
const { name, version } = project;
const tally = createTally("install-check");
const { folder } = tally;
const [{ tarball }, { registry, address }] = await Promise.all([packProject(folder), startRegistry()]);
// A registry that anyone may publish to takes any token, but npm wants one.
const token = `--${address.replace("http:", "")}:_authToken=any`;
await attempt("npm publish", newcomer(address), ["npm", "publish", "--tag", "latest", token, tarball]);
tally.count("npx svc-sandbox, up to the first response", await firstResponse(address));
await Promise.all([...managers.map((manager) => tryManager(manager, address)), tryGit()]);
registry.kill();

/** Starts a registry that has no package; it passes on other names than ours to the registry of this machine. */
async function startRegistry() {
  const cwd = join(folder, "registry");
  await cp(join(root, "scripts/tools/registry"), cwd, { recursive: true });
  await install(cwd);
  const config = `storage: ./storage
uplinks: { machine: { url: "${await mustRun("npm", ["config", "get", "registry"])}" } }
packages:
  ${name}: { access: $all, publish: $all }
  "**": { access: $all, proxy: machine }
log: { type: stdout, format: pretty, level: warn }
`;
  await writeFile(join(cwd, "config.yaml"), config);
  const address = `127.0.0.1:${await freePort()}`;
  const argv = ["node_modules/verdaccio/bin/verdaccio", "--config", "config.yaml", "--listen", address];
  const registry = spawn(process.execPath, argv, { cwd });
  process.once("exit", () => registry.kill());
  await firstLine(registry, /http address/);
  return { registry, address: `http://${address}/` };
}

type User = Readonly<{ cwd: string; env: Readonly<Record<string, string>> }>;

async function folderWith(contents: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await mkdtemp(join(folder, "user-"));
  for (const [file, text] of Object.entries(contents)) await writeFile(join(cwd, file), text);
  return cwd;
}

/** An environment with an empty home, where every manager uses the registry on this machine, and an empty folder by default. */
async function newcomer(address: string, contents = {}): Promise<User> {
  const home = await mkdtemp(join(folder, "home-"));
  const cwd = await folderWith(contents);
  const env = {
    HOME: home,
    npm_config_userconfig: join(home, ".npmrc"),
    npm_config_cache: join(home, ".npm"),
    npm_config_registry: address,
    npm_config_update_notifier: "false",
    YARN_REGISTRY: address,
    YARN_NPM_REGISTRY_SERVER: address,
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    // Yarn avoids packages that are younger than a day.
    YARN_NPM_MINIMAL_AGE_GATE: "0",
  };
  return { cwd, env };
}

/** Starts the sandbox as a newcomer does, and calls it with a revoked key. Returns what went wrong. */
async function firstResponse(address: string): Promise<string | undefined> {
  const { cwd, env: own } = await newcomer(address);
  const env = { ...ownEnvironment(), ...own };
  const child = spawn("npx", [name, "--json", "--port", "0"], { cwd, env, detached: true, timeout: 180_000 });
  const ended = once(child, "close");
  try {
    const { base_url, keys } = JSON.parse(await firstLine(child));
    const headers = { "x-api-key": keys.revoked };
    const { status } = await fetch(`${base_url}/v1/relying-party/me`, { headers });
    return status === 401 ? undefined : `a revoked key gets ${status}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    if (child.exitCode === null) process.kill(-(child.pid as number), "SIGTERM");
    await ended;
  }
}

async function tryManager({ source, program, add, exec }: Manager, address: string): Promise<void> {
  const home = join(folder, source.replace(/\W+/g, "-"));
  await install(home, [source]);
  const own = ["node", join(home, "node_modules", program)];
  const user = newcomer(address, files);
  await attempt(`${source}: ${add.join(" ")} ${name}`, user, [...own, ...add, name]);
  await attempt(`${source}: the command`, user, [...own, ...exec, name, "list"], scenario);
  for (const file of ["import.mjs", "require.cjs"]) {
    await attempt(`${source}: ${file}`, user, [...own, ...exec, "node", file], scenario);
  }
  if (!source.startsWith("npm@")) return;
  const npx = [...own, "exec", "--yes", `${name}@${version}`, "list"];
  await attempt(`${source}: npx ${name}@${version} list`, newcomer(address), npx, scenario);
  const compile = ["node", compiler, ...strictly, "typed.mts", "typed.cts"];
  await attempt(`${source}: TypeScript`, user, compile);
  for (const file of ["typed.mjs", "typed.cjs"]) {
    await attempt(`${source}: ${file}`, user, ["node", file], scenario);
  }
  const other = newcomer(address, files);
  const sources = neighbors.map((one) => one.source);
  await attempt(`${source}: other packages`, other, [...own, "install", "--ignore-scripts", ...sources]);
  await attempt(`${source}: next to them`, other, [...own, "install", name]);
  for (const { entry, result } of neighbors) {
    await attempt(`${source}: ${name}/${entry} next to them`, other, ["node", "entry.mjs", entry], result);
  }
}

async function tryGit(): Promise<void> {
  if (!existsSync(join(root, ".git"))) return tally.skip("a git dependency", "this is not a git clone");
  const user = { cwd: await folderWith(files), env: {} };
  const argv = ["npm", "install", "--no-audit", "--no-fund", `git+file://${root}`];
  await attempt("a git dependency", Promise.resolve(user), argv);
  await attempt("a git dependency: import.mjs", Promise.resolve(user), ["node", "import.mjs"], scenario);
}

/** Counts a run of a program: it must end with 0, print the expected text, and not warn about us. */
async function attempt(
  title: string,
  user: Promise<User>,
  [program = "", ...argv]: readonly string[],
  expected = /(?:)/,
): Promise<void> {
  const { cwd, env } = await user;
  const { code, output } = await runProgram(program, argv, { cwd, env, timeout: 600_000, retries: 1 });
  const isFine = code === 0 && expected.test(output) && !/^npm warn .*svc-sandbox(?!@)/im.test(output);
  tally.count(title, isFine ? undefined : output);
}
