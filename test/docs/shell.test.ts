import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { command as exec } from "../../src/cli/commands/exec.js";
import { type SandboxServer, startServer } from "../../src/node/index.js";
import { blocksOf, blockWith, pageOf } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { type RunningCommand, runCommand } from "../support/running-command.js";
import { temporaryFolder, userFolder } from "../support/temporary-folder.js";

// The commands of the pages do what the pages say, with the built package.

/** The words by which the tests below find the blocks that they run; `.ci/run` runs `npm ci`. */
const run: Readonly<Record<string, readonly string[]>> = {
  "README.md": [
    ...["npx svc-sandbox\n", "curl -i", "while IFS==", "explain", "svc-sandbox exec", "svc-sandbox list"],
    ...["svc-sandbox init", "--write-env", "npm ci"],
  ],
  "docs/control-plane.md": "send() {,urllib,HttpClient,curl -sN,--tls,--cacert,--state,/story/next".split(
    ",",
  ),
};

test.each(Object.entries(run))("every block of %s is run", (page, words) => {
  const blocks = blocksOf(page).filter(({ language }) => ["sh", "python", "java"].includes(language));
  expect(blocks.filter(({ text }) => !words.some((one) => text.includes(one)))).toEqual([]);
});

/** A command of a page that serves, on a free port; it is stopped when the test is over. */
function serving(command: string, cwd: string): RunningCommand {
  const running = runCommand(command, { cwd, env: { SVC_SANDBOX_PORT: "0" } });
  onTestFinished(async () => {
    expect((await running.stop()).stderr).not.toMatch(/fail/i);
  });
  return running;
}

const ended = (command: string, cwd: string, env = {}) => runCommand(command, { cwd, env }).ended;

/* README.md */

const readme = (words: string, port = "4747") =>
  blockWith("README.md", "sh", words).replaceAll("127.0.0.1:4747", `127.0.0.1:${port}`);

/** Starts the sandbox as the first block of the README says; answers its port. */
async function served(cwd: string): Promise<string> {
  const address = /listening on http:\/\/127\.0\.0\.1:(\d+)/;
  return address.exec(await serving(readme("npx svc-sandbox\n"), cwd).until(address))?.[1] as string;
}

test("README.md: the first curl lines give 200, 401, 403 and 429", async () => {
  const cwd = userFolder();
  const { code, stdout } = await ended(readme("curl -i", await served(cwd)), cwd);
  expect(code).toBe(0);
  expect(stdout.match(/(?<=HTTP\/1\.1 )\d{3}/g)).toEqual(["200", "401", "403", "429"]);
});

test("README.md: the loop shows all states, as the table says", async () => {
  const cwd = userFolder();
  const { stdout } = await ended(readme("while IFS==", await served(cwd)), cwd);
  const seen = stdout.trim().split("\n").sort();
  const told = [...pageOf("README.md").matchAll(/^\| (`[a-z-]+`.*?) \| (\d{3})/gm)].flatMap(
    ([, keys = "", status]) =>
      [...(keys.split(";")[0] ?? "").matchAll(/`([a-z-]+)`/g)].map(
        ([, ref = ""]) => `${status} SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}`,
      ),
  );
  expect(seen).toHaveLength(15);
  expect(seen).toEqual(told.sort());
});

test("README.md: explain, list and show print what it says of them", async () => {
  const cwd = userFolder();
  const explained = await ended(readme("explain"), cwd);
  const listed = await ended(readme("svc-sandbox list"), cwd);
  expect(explained.stdout).toContain("403.live_suspended");
  expect(listed.stdout).toContain(pageOf("scenarios/rotation.yaml"));
  expect([explained.code, listed.code]).toEqual([0, 0]);
});

test("README.md: exec prints what it says of a client that sends a revoked key twice", async () => {
  const client = `import { setTimeout } from "node:timers/promises";
const { SVC_BASE_URL, SVC_API_KEY, SVC_KEY_REVOKED } = process.env;
for (const key of [SVC_API_KEY, SVC_KEY_REVOKED, SVC_KEY_REVOKED]) {
  await fetch(SVC_BASE_URL + "/v1/relying-party/me", { headers: { "x-api-key": key } });
  await setTimeout(200);
}`;
  const cwd = userFolder();
  writeFileSync(join(cwd, "client.mjs"), client);
  writeFileSync(join(cwd, "package.json"), '{ "scripts": { "test": "node client.mjs" } }');
  const { code, stderr } = await ended(readme("svc-sandbox exec"), cwd);
  expect(code).toBe(0);
  const shown = blockWith("README.md", "text", "Coverage").trimEnd().split("\n");
  expect(shown.filter((line) => line.trim() !== "…" && !stderr.split("\n").includes(line))).toEqual([]);
});

test("README.md: a scenario of one's own is written, checked and served; scripts get JSON and an env file", async () => {
  const cwd = userFolder();
  await serving(readme("svc-sandbox init"), cwd).until(/listening on/);
  expect(existsSync(join(cwd, "svc-sandbox.yaml"))).toBe(true);
  const other = userFolder();
  const running = serving(readme("--write-env"), other);
  const line = await running.until(/\n/);
  const { event, base_url, keys } = JSON.parse(line);
  expect([event, Object.keys(keys).length]).toEqual(["listening", 15]);
  const written = readFileSync(join(other, "sandbox.env"), "utf8");
  expect(written).toContain(`SVC_BASE_URL=${base_url}\n`);
  expect(written).toContain(`SVC_API_KEY=${keys.active}\n`);
  expect((await running.stop()).stdout).toBe(line);
});

/* docs/control-plane.md */

const controlBlock = (language: string, words: string, server: SandboxServer) =>
  blockWith("docs/control-plane.md", language, words).replaceAll("http://127.0.0.1:4747", server.url);

async function openServer(): Promise<SandboxServer> {
  const server = await startServer();
  onTestFinished(() => server.close(0));
  return server as SandboxServer;
}

/** What the comments of a block say that it prints. */
const promised = (text: string) =>
  [...text.matchAll(/(?:#|\/\/) (\d{3})$/gm)].map(([, status]) => `${status}\n`).join("");

/** Whether a program is installed in a version that will do; in CI it has to be. */
function has(program: string, version: RegExp): boolean {
  if (process.env.CI === "true") return true;
  try {
    return version.test(execFileSync(program, ["--version"], { encoding: "utf8", stdio: "pipe" }));
  } catch {
    return false;
  }
}

for (const [language, words, file, command, installed] of [
  ["sh", "send() {", "session.sh", "bash -eu", true],
  ["python", "urllib", "session.py", "python3", has("python3", /Python 3\./)],
  ["java", "HttpClient", "Main.java", "java", has("java", /^(?:openjdk|java) (?:1[7-9]|[2-9]\d)/)],
] as const) {
  test.skipIf(!installed)(
    `docs/control-plane.md: the session in ${language} prints what it says`,
    async () => {
      const server = await openServer();
      const text = controlBlock(language, words, server);
      const { code, stdout, stderr } = await ended(`${command} ${file}`, temporaryFolder({ [file]: text }));
      expect([code, stdout, stderr]).toEqual([0, promised(text), ""]);
      expect(stdout).not.toBe("");
      // It leaves the world as it was.
      expect(server.sandbox.keys.list().map(({ ref }) => ref)).not.toContain("nightly");
      expect((await (await fetch(`${server.controlUrl}/instances`)).json()).data).toEqual([]);
    },
  );
}

test("docs/control-plane.md: the line for events shows them as they happen", async () => {
  const server = await openServer();
  const line = controlBlock("sh", "curl -sN", server).trim();
  const child = spawn("bash", ["-c", `exec ${line}`], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  let heard = "";
  for await (const text of child.stdout.setEncoding("utf8")) {
    heard += text;
    // The first line says that the server listens to this client.
    if (heard.startsWith("retry:") && !heard.includes("event:")) server.sandbox.keys.revoke("active");
    if (heard.includes("event: key.revoked")) break;
  }
  expect(heard).toMatch(/^id: \d+\nevent: key\.revoked\ndata: \{"key":\{"ref":"active",/m);
});

test("docs/control-plane.md: the line for a story runs its next step", async () => {
  const { stdout } = await ended(controlBlock("sh", "/story/next", await openServer()), temporaryFolder());
  expect(JSON.parse(stdout).data).toMatchObject({ step: { number: 1, kind: "say" } });
});

test("docs/control-plane.md: a client with the certificate reaches HTTPS", async () => {
  const cwd = userFolder();
  serving(blockWith("docs/control-plane.md", "sh", "--tls"), cwd);
  const printed = () => readFileSync(join(cwd, "listening.json"), "utf8");
  await vi.waitFor(() => expect(printed()).toMatch(/\n$/), { timeout: 40_000, interval: 50 });
  const text = blockWith("docs/control-plane.md", "sh", "--cacert");
  const line = text.replace("https://127.0.0.1:4747", JSON.parse(printed()).base_url);
  const { stdout, stderr } = await ended(line, cwd);
  expect([stdout, stderr]).toEqual([promised(text), ""]);
});

test("docs/control-plane.md: the line for a state starts a server that writes the file", async () => {
  const cwd = userFolder();
  await serving(blockWith("docs/control-plane.md", "sh", "--state"), cwd).until(/listening on/);
  expect(JSON.parse(readFileSync(join(cwd, "sandbox.json"), "utf8")).name).toBe("key-states");
});

test("docs/report.md: its lines print a report of the server, and fail below the threshold", async () => {
  const server = await openServer();
  await fetch(`${server.url}/v1/relying-party/me`);
  const env = { SVC_CONTROL_URL: String(server.controlUrl) };
  const { code, stdout } = await ended(blockWith("docs/report.md", "sh"), userFolder(), env);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^# Coverage 5 %[\s\S]*and 80 % is asked for/)]);
});

const execLines = [
  ...[...pageOf("docs/exec.md").matchAll(/npx (svc-sandbox exec .*)$/gm)].map(([, line = ""]) => line),
  ...Object.keys(exec.examples),
];

test.each(execLines)("docs/exec.md: %s is understood", async (line) => {
  // A command that does not exist takes the place of the example's: everything before it has been understood then.
  const [, own = ""] = /^svc-sandbox (exec(?: .*?)?) -- ./.exec(line) ?? [];
  const ran = await runCli([...own.split(" "), "--", "no-such-command"], { cwd: temporaryFolder() });
  expect(ran).toMatchObject({ code: 127, stdout: "" });
});
