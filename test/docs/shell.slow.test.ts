import { cpSync, existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { execCommand as exec } from "../../src/cli/commands/exec.js";
import type { SandboxServer } from "../../src/server/index.js";
import { blocksOf, blockWith, pageOf, root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { commandLine, type RunningCommand, runCommand } from "../support/running-command.js";
import { served } from "../support/servers.js";
import { temporaryFolder, userFolder } from "../support/temporary-folder.js";

// The commands of the pages do what the pages say, with the built package.

/** The words by which the tests below find the blocks that they run; `.ci/run` runs `npm ci` and all tests. */
const run: Readonly<Record<string, readonly string[]>> = {
  // `npm run examples` runs those of a project as well, with the packages of the registry.
  "README.md": ["npm start", "curl -i", "npm ci && npm test", "npm pack", "exec --", "start my.yaml"],
  // deploy.slow.test.ts runs them, and image.ts builds the image.
  "docs/host.md": [
    "--write-env partner.env",
    "x-api-key",
    "add() {",
    "systemctl enable",
    "docker compose",
    "kubectl apply",
    "for file in",
  ],
  "docs/control-plane.md": ["send() {", "send P", "/revision"],
};

test.each(Object.entries(run))("every block of %s is run", (page, words) => {
  const blocks = blocksOf(page).filter(({ language }) => ["sh", "python", "java"].includes(language));
  expect(blocks.filter(({ text }) => !words.some((one) => text.includes(one)))).toEqual([]);
});

/** A shell in a project, as docs/start.md shows it: it finds the commands of the project's packages. */
const binOf = (cwd: string) => ({ PATH: [join(cwd, "node_modules/.bin"), process.env.PATH].join(delimiter) });

/** A command of a page that serves, on a free port; it is stopped when the test is over. */
function serving(command: string, cwd: string, shell = "bash"): RunningCommand {
  const running = runCommand(command, { cwd, env: { ...binOf(cwd), SVC_SANDBOX_PORT: "0" }, shell });
  onTestFinished(async () => {
    expect((await running.stop()).stderr).not.toMatch(/fail/i);
  });
  return running;
}

const ended = (command: string, cwd: string, env = {}) =>
  runCommand(command, { cwd, env: { ...binOf(cwd), ...env } }).ended;

/* README.md */

const readme = (words: string, port = "4747") =>
  blockWith("README.md", "sh", words).replaceAll("127.0.0.1:4747", `127.0.0.1:${port}`);

/** What a table says of the keys: `200 SVC_KEY_ACTIVE`. */
const toldOfKeys = () =>
  [...pageOf("README.md").matchAll(/^\| (`[a-z-]+`.*?) \| (\d{3})/gm)].flatMap(([, keys = "", status]) =>
    [...(keys.split(";")[0] ?? "").matchAll(/`([a-z-]+)`/g)].map(
      ([, ref = ""]) => `${status} SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`,
    ),
  );

/** The project as git has it, in a folder of its own: nothing is installed, nothing is built. */
function cleanClone(folder: string): string {
  const clone = join(folder, "svc-sandbox");
  const [skipped, made] = [
    /^(?:node_modules|dist|\.git|\.svc-sandbox|coverage)(?:\/|$)|\.tgz$/,
    /\.generated\.ts$/,
  ];
  const filter = (file: string) => {
    const path = relative(root, file);
    return !skipped.test(path) && !made.test(path);
  };
  cpSync(root, clone, { recursive: true, filter });
  return clone;
}

const shells = ["dash", "bash"];

test("README.md: each block shows first where it runs, and none runs the tests of this project under a command", () => {
  const blocks = blocksOf("README.md").filter(({ language }) => language === "sh");
  const above = [...pageOf("README.md").matchAll(/^(.+)\n\n```sh$/gm)].map(([, prose = ""]) => prose);
  const places = above.map((prose) => /^In (any folder|the clone|your project)\b/.exec(prose)?.[1]);
  expect(places).toHaveLength(blocks.length);
  expect(new Set(places)).toEqual(new Set(["any folder", "the clone", "your project"]));
  for (const [index, { text }] of blocks.entries()) {
    expect(/svc-sandbox (?:exec|certify)/.test(text) && places[index] !== "your project").toBe(false);
  }
});

test.each(shells)(
  "README.md: its first screen works in %s, in a clean clone with an empty HOME, and elsewhere from a tarball",
  async (shell) => {
    const folder = temporaryFolder({
      "home/.keep": "",
      "your-project/package.json": '{ "private": true }\n',
    });
    const clone = cleanClone(folder);
    // Nothing of the npm and the project that these tests run under.
    const path = process.env.PATH?.split(delimiter).filter((one) => !one.includes("node_modules"));
    const env = { PATH: path?.join(delimiter) ?? "", HOME: join(folder, "home"), NO_COLOR: "1" };
    const inClone = (command: string) => runCommand(command, { cwd: clone, only: env, shell });

    // `.ci/run` runs the tests.
    const [explain = ""] = /^npx --no-install svc-sandbox explain .*$/m.exec(readme("explain")) ?? [];
    for (const early of ["npm start", "npx --no-install svc-sandbox", explain]) {
      const { code, stdout, stderr } = await inClone(early).ended;
      expect([early, code, stdout, stderr]).toEqual([
        early,
        2,
        early === "npm start" ? expect.any(String) : "",
        expect.stringContaining("Run `npm ci`"),
      ]);
    }
    expect((await inClone("npm pack").ended).code).not.toBe(0);

    // The result of `npm ci`, which leaves a build that is up to date alone; install-check builds a clone.
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
    cpSync(join(root, "dist"), join(clone, "dist"), { recursive: true });
    const builtAt = statSync(join(clone, "dist/openapi.json")).mtimeMs;
    expect(await inClone("node scripts/prepare.js").ended).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(statSync(join(clone, "dist/openapi.json")).mtimeMs).toBe(builtAt);

    const start = "npm start";
    expect(readme("npm start")).toContain(`npm ci && ${start}\n`);
    const started = runCommand(start, { cwd: clone, only: { ...env, SVC_SANDBOX_PORT: "0" }, shell });
    const address = /listening on http:\/\/127\.0\.0\.1:(\d+)/;
    const port = address.exec(await started.until(address))?.[1] as string;
    // `explain` asks the sandbox at the usual port.
    const only = { ...env, SVC_CONTROL_URL: `http://127.0.0.1:${port}/__sandbox` };
    const called = await runCommand(readme("curl -i", port), { cwd: clone, only, shell }).ended;
    expect(called.stdout).toMatch(/^HTTP\/1\.1 401 Unauthorized\r$/m);
    expect(called.stdout).toContain("401.revoked");
    const { stdout } = await inClone("npx --no-install svc-sandbox keys --format env").ended;
    const keys = [...stdout.matchAll(/(SVC_KEY_\w+)='?([\w-]*)/g)];
    const seen = keys.map(async ([, name, key = ""]) => {
      const url = `http://127.0.0.1:${port}/v1/relying-party/me`;
      return `${(await fetch(url, { headers: { "x-api-key": key } })).status} ${name}`;
    });
    expect((await Promise.all(seen)).sort()).toEqual(toldOfKeys().sort());

    expect((await inClone("npx --no-install svc-sandbox lits").ended).stderr).toContain(
      "`npx --no-install svc-sandbox list`",
    );

    const unscripted = "export npm_config_ignore_scripts=true";
    const elsewhere = await inClone(`${unscripted}\n${blockWith("docs/start.md", "sh", "npm pack")}`).ended;
    expect(elsewhere).toMatchObject({ code: 0, stdout: expect.stringMatching(/^key-states /m) });
    const project = join(folder, "your-project");
    expect(existsSync(join(project, "node_modules/svc-sandbox/dist/cjs/cli.js"))).toBe(true);
    // Without the packages of the registry.
    const lines = readme("npm pack")
      .replace(" vitest@4.1.12 msw@2.15.0 ", " ")
      .replace("--client vitest", "--client node");
    const install = runCommand(`${unscripted}\n${lines}`, { cwd: project, only: env, shell });
    expect(await install.ended).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Wrote test/whoami.test.mjs"),
    });
  },
);

test.each(shells)(
  "README.md: a scenario is served by its line in %s, and init writes one that start accepts",
  async (shell) => {
    const cwd = userFolder({ "my.yaml": blockWith("README.md", "yaml") });
    await serving(readme("start my.yaml"), cwd, shell).until(/listening on/);
    await serving(
      "npx --no-install svc-sandbox init && npx --no-install svc-sandbox start --watch",
      cwd,
    ).until(/listening on/);
    expect(existsSync(join(cwd, "svc-sandbox.yaml"))).toBe(true);
  },
);

/* docs/control-plane.md */

const openServer = async () => (await served()) as SandboxServer;

test("docs/control-plane.md: its commands print the responses below them", async () => {
  const server = await openServer();
  const blocks = blocksOf("docs/control-plane.md").filter((one) => ["sh", "text"].includes(one.language));
  const shown = blocks.flatMap(({ text }, index) =>
    text.includes("send P") ? [[text, blocks[index + 1]?.text ?? ""] as const] : [],
  );
  expect(shown.length).toBeGreaterThan(4);
  const script = shown.map(([text]) => text).join("echo '--'\n");
  const local = (text: string) => text.replaceAll("http://127.0.0.1:4747", server.url);
  const { stdout, stderr } = await ended(local(script), temporaryFolder());
  expect(stderr).toBe("");
  const printed = stdout.split("--\n");
  for (const [index, [text, response]] of shown.entries()) {
    const parts = local(response).split("…");
    const pattern = parts.map((part) => part.replace(/[.*+?^$(){}|[\]\\]/g, "\\$&")).join(".*");
    expect([text, printed[index]]).toEqual([text, expect.stringMatching(new RegExp(`^${pattern}$`))]);
  }
  // The programs below them use its keys.
  expect(server.sandbox.name).toBe("key-states");
});

test("docs/frameworks.md: a client with the certificate reaches HTTPS", async () => {
  const cwd = userFolder();
  serving(blockWith("docs/frameworks.md", "sh", "--tls"), cwd);
  const printed = () => readFileSync(join(cwd, "listening.json"), "utf8");
  await expect.poll(() => printed()).toMatch(/\n$/);
  const text = blockWith("docs/frameworks.md", "sh", "--cacert");
  const line = text.replace("https://127.0.0.1:4747", JSON.parse(printed()).base_url);
  const { stdout, stderr } = await ended(line, cwd);
  const [, status] = /It prints (\d{3}):/.exec(pageOf("docs/frameworks.md")) ?? [];
  expect([stdout, stderr]).toEqual([`${status}\n`, ""]);
});

test("docs/scenarios.md: the first scenario is served, and its curl line gets the status of the table", async () => {
  const page = "docs/scenarios.md";
  const cwd = userFolder({ "svc-sandbox.yaml": blockWith(page, "yaml", "stolen:") });
  const start = `${commandLine} start --json --log off`;
  const { base_url } = JSON.parse(await serving(start, cwd).until(/\n/));
  const text = blockWith(page, "sh", "curl -i").replace("http://127.0.0.1:4747", base_url);
  const [, status] = /^stolen +\S+ +(\d{3})/m.exec(pageOf(page)) ?? [];
  expect((await ended(text, cwd)).stdout).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test("docs/report.md: its lines print a report of the server, and fail below the threshold", async () => {
  const server = await openServer();
  await fetch(`${server.url}/v1/relying-party/me`);
  const env = { SVC_CONTROL_URL: String(server.controlUrl) };
  const { code, stdout } = await ended(blockWith("docs/report.md", "sh", "--fail-on"), userFolder(), env);
  expect([code, stdout]).toEqual([5, expect.stringMatching(/^# Coverage \d+%[\s\S]*below the required 80%/)]);
});

const execLines = [
  ...[...pageOf("docs/coverage.md").matchAll(/(?:^|^\| .* \| `)(svc-sandbox exec [^`\n]*)/gm)].map(
    ([, line = ""]) => line,
  ),
  ...Object.keys(exec.examples),
];

test.each(execLines)("docs/coverage.md: %s is understood", async (line) => {
  // A command that does not exist takes the place of the example's: everything before it has been understood then.
  const [, own = ""] = /^svc-sandbox (exec(?: .*?)?) -- ./.exec(line) ?? [];
  const cwd = temporaryFolder();
  const env = { GITHUB_STEP_SUMMARY: join(cwd, "summary") };
  const words = own.replace('"$GITHUB_STEP_SUMMARY"', env.GITHUB_STEP_SUMMARY).split(" ");
  const ran = await runCli([...words, "--", "no-such-command"], { cwd, env });
  expect(ran).toMatchObject({ code: 127, stdout: "" });
});
