import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { CliCommand, Mode } from "../../src/cli/command.js";
import { commands } from "../../src/cli/commands.js";
import { longForm } from "../../src/cli/flags.js";
import { pageOf } from "../support/pages.js";
import { runCli, startCli } from "../support/run-cli.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A command line in each mode; `URL` is that of a running sandbox. */
const calls: Readonly<Record<string, string>> = {
  start: "start key-states",
  exec: "exec key-states",
  certify: "certify key-states",
  list: "list",
  show: "show key-states",
  init: "init new.yaml",
  "init --client": "init mine.test.mjs --client node",
  "init --agent": "init --agent",
  validate: "validate key-states",
  "validate --json": "validate key-states --json",
  keys: "keys key-states",
  "keys --format env": "keys key-states --format env",
  verify: "verify key-states",
  "verify --json": "verify key-states --json",
  play: "play active",
  "fixtures organizations": "fixtures organizations",
  "fixtures farmers": "fixtures farmers",
  "explain <request id or last>": "explain last",
  "explain <key>": "explain revoked",
  "explain <key> [scenario]": "explain revoked key-states",
  compare: "compare URL",
  "report <url>": "report URL",
  "report <file>": "report report.json",
  "report --merge": "report report.json --merge",
  stop: "stop URL",
  "stop --json": "stop URL --json",
  openapi: "openapi",
  schema: "schema scenario",
};

/** A value of each flag that has one. */
const values: Readonly<Record<string, string>> = {
  allow: "200.retiring",
  allowHosts: "sandbox.example",
  ca: "mine.yaml",
  cert: "mine.yaml",
  client: "node",
  controlToken: "token-of-a-test",
  count: "1",
  endpoint: "createReport",
  failOn: "error",
  fault: "fault.hang",
  format: "json",
  from: "1",
  host: "127.0.0.1",
  jobs: "1",
  key: "mine.yaml",
  locale: "en",
  log: "json",
  maxRequests: "1",
  minCoverage: "1",
  now: "2026-03-02T09:00:00Z",
  only: "varied",
  port: "0",
  profile: "typical",
  publicUrl: "http://sandbox.example",
  report: "report.xml",
  seed: "2",
  speed: "max",
  state: "state.json",
  timeout: "1s",
  url: "URL",
  writeEnv: ".env",
  writeScenario: "learned.yaml",
};

/** What came of a call. */
interface Called {
  readonly code: number;
  readonly stderr: string;
  /** The mode in which the command ran; `undefined` if the call was refused. */
  readonly mode: string | undefined;
  /** The names of the flags that the command has read. */
  readonly read: ReadonlySet<string>;
}

const files = {
  "mine.yaml": "version: 1\n",
  "package.json": '{ "devDependencies": { "svc-sandbox": "1.0.0" } }',
};

type ServedSandbox = Awaited<ReturnType<typeof served>>;

/** Serves a sandbox that has rejected a request, for `explain last`. */
async function rejecting(): Promise<ServedSandbox> {
  const server = await served({ scenario: "key-states" });
  await fetch(`${server.url}/v1/relying-party/me`);
  return server;
}

/** Calls a command, and watches which flags it reads. A server stops when it is ready, and `play` after its first step. */
async function call(line: string, command: CliCommand, { url, controlUrl }: ServedSandbox): Promise<Called> {
  const report = await (await fetch(`${controlUrl}/report`)).text();
  const cwd = temporaryFolder({ ...files, "report.json": report });
  // Only over a file that exists does it do something.
  if (line.includes("--force")) writeFileSync(join(cwd, "mine.test.mjs"), "");
  const argv = line.split(" ").map((word) => (word === "URL" ? url : word));
  if (command.takesClientCommand) argv.push("--", "true");

  let mode: string | undefined;
  const read = new Set<string>();
  const { run } = command;
  const watched = vi.spyOn(command, "run").mockImplementation((one) => {
    mode = one.mode;
    const get = (flags: object, name: string) => {
      read.add(name);
      return Reflect.get(flags, name);
    };
    return run.call(command, { ...one, flags: new Proxy(one.flags, { get }) as typeof one.flags });
  });
  const env = {
    PATH: process.env.PATH ?? "",
    BROWSER: "none",
    SVC_CONTROL_URL: controlUrl as string,
    SVC_IN_BACKGROUND: "1",
    SVC_SANDBOX_PORT: "0",
  };
  try {
    const running = startCli(argv, { cwd, env, input: "", keys: ["q"] });
    const { code, stderr } = await (argv[0] === "start" ? running.stop() : running.done);
    return { code, stderr, mode, read };
  } finally {
    watched.mockRestore();
  }
}

const modes: [string, CliCommand, Mode][] = [];
for (const [name, load] of Object.entries(commands)) {
  const command = await load();
  const declared: readonly Mode[] = command.modes ?? [{ name, flags: Object.keys(command.flags) }];
  for (const mode of declared) modes.push([mode.name, command, mode]);
}

test("each mode of each command has a call here", () => {
  expect(modes.map(([name]) => name).sort()).toEqual(Object.keys(calls).sort());
});

test.each(modes)("%s reads each flag of its command, or refuses it by its name", async (_, command, mode) => {
  const line = calls[mode.name] as string;
  const shared = await rejecting();
  const callWith = async (one: string) => {
    return call(one, command, line.startsWith("stop") ? await rejecting() : shared);
  };
  expect((await callWith(line)).mode).toBe(mode.name);

  for (const [name, { spec }] of Object.entries(command.flags)) {
    const flag = longForm(spec);
    if (line.split(" ").includes(flag)) continue;
    const withFlag = spec.includes("<") ? `${line} ${flag} ${values[name]}` : `${line} ${flag}`;
    const { code, stderr, mode: found, read } = await callWith(withFlag);
    if (found === undefined) {
      expect([withFlag, code]).toEqual([withFlag, 2]);
      expect(stderr).toContain(flag);
      continue;
    }
    // If not by the command, it is read to find the mode.
    const isRead = read.has(name) || found !== mode.name;
    const { flags = [] } = modes.find(([one]) => one === found)?.[2] ?? {};
    expect([withFlag, flags.includes(name), isRead]).toEqual([withFlag, true, true]);
  }
});

test.each([
  ["init --client node mine.yaml", /mine\.yaml.*must end with \.mjs/],
  ["init --agent MINE.md", /init --agent does not use "MINE\.md"/],
  ["explain last --seed 5 --profile varied", /does not use --seed and --profile/],
  ["explain last --endpoint nothing", /--endpoint/],
  ["explain req_bc8550a0796dcd92bd275137 mine.yaml", /"mine\.yaml"/],
  ["explain revoked key-states --url http://127.0.0.1:1", /--url/],
  ["fixtures organizations --now 2026-03-02T09:00:00Z", /--now/],
  ["keys --format env --endpoint nothing", /--endpoint/],
  ["start --no-control --open", /--open/],
  ["start --no-control --detach", /--detach/],
  ["exec --no-control --control-token token-of-a-test -- true", /--control-token/],
  ["play active --step --speed 2", /--speed/],
  ["play active --json --speed 2", /--speed/],
  ["verify active --json --quiet", /--quiet/],
  ["list key-states", /"key-states"/],
  ["schema scenario certificate", /"certificate"/],
])("%s is a usage error that names what does nothing there", async (line, names) => {
  const { code, stdout, stderr } = await runCli(line.split(" "), { cwd: temporaryFolder(files) });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(names);
});

test("init --client writes the file that the call names, and leaves the usual one", async () => {
  const cwd = temporaryFolder({ ...files, "test/whoami.test.mjs": "// edited\n" });
  const { code, stderr } = await runCli(["init", "--client", "node", "other.test.mjs", "--force"], { cwd });
  expect([code, stderr]).toEqual([0, expect.stringContaining("Wrote other.test.mjs")]);
  expect(readFileSync(join(cwd, "test/whoami.test.mjs"), "utf8")).toBe("// edited\n");
  expect(readFileSync(join(cwd, "other.test.mjs"), "utf8")).toBe(pageOf("examples/exec/whoami.node.mjs"));
});

test("init --client go shows how to run the file that the call names", async () => {
  const goMod = "require github.com/svc-sandbox/svc-sandbox/packaging/go v1\n";
  const cwd = temporaryFolder({ "go.mod": goMod });
  const { stderr } = await runCli(["init", "--client", "go", "bank/bank_test.go"], { cwd });
  expect(stderr).toContain("go test ./bank\n");
  const dollars = await runCli(["init", "--client", "go", "a$$b/x_test.go"], { cwd });
  expect(dollars.stderr).toContain("go test './a$$b'\n");
});

const valid =
  "version: 1\norganizations: { b: { name: B, type: bank, keys: { k: { environment: test } } } }\n";

test("validate reads a file that is named twice once, also stdin", async () => {
  const { code, stdout } = await runCli(["validate", "-", "-"], { input: valid });
  expect([code, stdout]).toEqual([0, "ok  -  1 organization, 1 key\n"]);
});
