import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { controlCalls } from "../src/node/control/calls.js";
import { type SandboxServer, startServer } from "../src/node/index.js";
import { controlBodySchema } from "../src/scenario/format/control-bodies.js";
import { installedFolder } from "./support/installed.js";
import { runCommand } from "./support/running-command.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const file = join(import.meta.dirname, "../docs/control-plane.md");
const document = readFileSync(file, "utf8");
const blocks = [...document.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map((match) => ({
  language: match[1] as string,
  text: match[2] as string,
}));

let server: SandboxServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close(0));

/** The block in a language with these words, for the running server. */
function block(language: string, words: string): string {
  const found = blocks.filter((one) => one.language === language && one.text.includes(words));
  expect(found).toHaveLength(1);
  return (found[0]?.text ?? "").replaceAll("http://127.0.0.1:4747", server.url);
}

/** What the comments of a block say that it prints. */
function promised(text: string): string {
  return [...text.matchAll(/(?:#|\/\/) (\d{3})$/gm)].map((match) => `${match[1]}\n`).join("");
}

/** Runs a command that runs a block; it must print what the block's comments say, and leave the world as it was. */
async function expectAsPromised(command: string, name: string, text: string): Promise<void> {
  const { code, stdout, stderr } = await runCommand(command, { cwd: temporaryFolder({ [name]: text }) })
    .ended;
  expect([code, stdout, stderr]).toEqual([0, promised(text), ""]);
  expect(server.sandbox.keys.list().some(({ ref }) => ref === "nightly")).toBe(false);
  const { data } = await (await fetch(`${server.controlUrl}/instances`)).json();
  expect(data).toEqual([]);
}

function version(command: string): string | undefined {
  try {
    return execFileSync(command, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return undefined;
  }
}

/** Whether a test can run that needs this program; in CI it has to. */
function has(program: string, soundVersion: RegExp): boolean {
  if (soundVersion.test(version(program) ?? "") || process.env.CI === "true") return true;
  process.stdout.write(`Left out: the example for ${program}, which is not installed here.\n`);
  return false;
}

test("the session in curl prints what it says", async () => {
  const text = block("sh", "send() {");
  expect(promised(text).length).toBeGreaterThan(20);
  await expectAsPromised("bash -eu session.sh", "session.sh", text);
});

test.skipIf(!has("python3", /Python 3\./))("the session in Python prints what it says", async () => {
  await expectAsPromised("python3 session.py", "session.py", block("python", "urllib"));
});

test.skipIf(!has("java", /^(?:openjdk|java) (?:1[7-9]|[2-9]\d)/))(
  "the session in Java prints what it says",
  async () => {
    await expectAsPromised("java Main.java", "Main.java", block("java", "HttpClient"));
  },
);

test("the line for events shows them as they happen", async () => {
  const line = block("sh", "curl -sN").trim();
  const child = spawn("bash", ["-c", `exec ${line}`], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  const lines = child.stdout.setEncoding("utf8");
  let heard = "";
  for await (const text of lines) {
    heard += text;
    // What comes first says that the server listens to this client.
    if (heard.startsWith("retry:") && !heard.includes("event:")) server.sandbox.keys.revoke("active");
    if (heard.includes("event: key.revoked")) break;
  }
  expect(heard).toMatch(/^id: \d+\nevent: key\.revoked\ndata: \{"key":\{"ref":"active",/m);
});

test("the line for a story tells its next step", async () => {
  const { stdout } = await runCommand(block("sh", "/story/next"), { cwd: temporaryFolder() }).ended;
  expect(JSON.parse(stdout).data).toMatchObject({ told: 1, step: { number: 1, kind: "say" } });
});

test("a client that is given the certificate reaches HTTPS, as the page says", async () => {
  const user = installedFolder();
  onTestFinished(user.remove);
  const running = runCommand(block("sh", "--tls"), { cwd: user.folder, env: { SVC_SANDBOX_PORT: "0" } });
  const printed = () => readFileSync(join(user.folder, "listening.json"), "utf8");
  await vi.waitFor(() => expect(printed()).toMatch(/\n$/), { timeout: 20_000, interval: 50 });
  const text = block("sh", "--cacert").replace("https://127.0.0.1:4747", JSON.parse(printed()).base_url);
  const { stdout, stderr } = await runCommand(text, { cwd: user.folder }).ended;
  expect([stdout, stderr]).toEqual([promised(text), ""]);
  expect((await running.stop()).stderr).not.toMatch(/fail/i);
});

test("the line for a state starts a server that makes the file", async () => {
  const user = installedFolder();
  onTestFinished(user.remove);
  const running = runCommand(block("sh", "--state"), { cwd: user.folder, env: { SVC_SANDBOX_PORT: "0" } });
  await running.until(/listening on/);
  expect(JSON.parse(readFileSync(join(user.folder, "sandbox.json"), "utf8")).name).toBe("key-states");
  expect((await running.stop()).stderr).not.toMatch(/fail/i);
});

test("the table of calls is that of the control plane (UPDATE=1 rewrites it)", () => {
  const rows = controlCalls.map(({ method, path, body, query, status, summary }) => [
    `\`${method} ${path}\``,
    [...fieldsOf(body ?? "nothing"), ...Object.keys(query ?? {}).map((name) => `?${name}=`)]
      .map((field) => `\`${field}\``)
      .join(", "),
    String(status),
    summary,
  ]);
  const pages = [
    ["`GET /events`", "", "200", "[Everything that happens](#events), as server-sent events"],
    ["`GET /openapi.json`", "", "200", "The OpenAPI document of the relying-party API"],
    ["`GET /control.openapi.json`", "", "200", "The OpenAPI document of the control plane"],
    ["`GET /`", "", "200", "A page with the links"],
  ];
  const lines = [["call", "takes", "status", "does"], ["---", "---", "---", "---"], ...rows, ...pages].map(
    (cells) => `| ${cells.join(" | ")} |`,
  );
  const written = document.replace(
    /(<!-- calls -->\n)[\s\S]*?(<!-- \/calls -->)/,
    (_all, start: string, end: string) => `${start}\n${lines.join("\n")}\n\n${end}`,
  );
  if (process.env.UPDATE) writeFileSync(file, written);
  expect(readFileSync(file, "utf8")).toBe(written);
});

function fieldsOf(name: Parameters<typeof controlBodySchema>[0]): string[] {
  const { properties = {}, required = [] } = controlBodySchema(name) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.keys(properties).map((field) => (required.includes(field) ? field : `${field}?`));
}

test("the page names every event that there is", () => {
  const source = readFileSync(join(import.meta.dirname, "../src/sandbox/events.ts"), "utf8");
  const types = [...source.matchAll(/readonly type: "([\w.]+)"/g)].map((match) => match[1] as string);
  expect(types).toContain("key.created");
  expect(types.filter((type) => !document.includes(`\`${type}\``))).toEqual([]);
});

test("links lead to headings that there are", () => {
  const headings = [...document.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] as string).toLowerCase().replaceAll(" ", "-"),
  );
  const targets = [...document.matchAll(/\]\(#([\w-]+)\)/g)].map((match) => match[1]);
  expect(targets.filter((target) => !headings.includes(target as string))).toEqual([]);
});

test("every block is run by a test", () => {
  const run = ["send() {", "urllib", "HttpClient", "curl -sN", "--tls", "--cacert", "--state", "/story/next"];
  expect(blocks.filter(({ text }) => !run.some((words) => text.includes(words)))).toEqual([]);
});
