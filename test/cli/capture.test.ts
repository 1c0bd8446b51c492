import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SandboxServer, ServerOptions } from "../../src/server/index.js";
import { control } from "../support/call-control.js";
import { mePath } from "../support/doors.js";
import { runCli } from "../support/run-cli.js";
import { listening, served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { client, clientFolder, execHere } from "./exec-client.js";

const serve = (options: ServerOptions = {}) => served({ frozen: true, ...options });

const me = async ({ sandbox }: SandboxServer, url: string, ...refs: ("active" | "revoked" | "none")[]) => {
  for (const ref of refs) {
    const headers = ref === "none" ? {} : { "x-api-key": sandbox.secret(ref) };
    await (await fetch(url + mePath, { headers })).text();
  }
};

test("capture writes a file that verify passes and play presents", async () => {
  const server = await serve();
  await me(server, server.url, "active", "revoked", "none");
  await control(server.controlUrl, "POST /keys/active/rotate", { as: "next", overlap_minutes: 0 });
  await me(server, server.url, "active");
  const cwd = temporaryFolder();
  const written = await runCli(["capture", server.url, "-o", "bug.yaml"], { cwd });
  expect(written).toEqual({
    code: 0,
    stdout: "",
    stderr: "Wrote bug.yaml. Verify it with: svc-sandbox verify bug.yaml\n",
  });
  const verified = await runCli(["verify", "bug.yaml"], { cwd });
  expect([verified.code, verified.stdout]).toEqual([
    0,
    expect.stringMatching(/5 steps, 5 expectations, all passed/),
  ]);
  expect(await runCli(["validate", "bug.yaml"], { cwd })).toMatchObject({ code: 0 });
  const played = await runCli(["play", "bug.yaml"], { cwd });
  expect(played.stdout).toMatch(
    /An administrator rotates the key active\. The new key is next; the old one stops/,
  );
  const printed = await runCli(["capture"], { env: { SVC_CONTROL_URL: server.controlUrl as string } });
  expect(printed).toEqual({ code: 0, stdout: readFileSync(join(cwd, "bug.yaml"), "utf8"), stderr: "" });

  const again = await runCli(["capture", server.url, "-o", "bug.yaml"], { cwd });
  expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/"bug\.yaml" already exists/)]);
  const forced = await runCli(["capture", server.url, "-o", "bug.yaml", "--force", "--quiet"], { cwd });
  expect(forced).toEqual({ code: 0, stdout: "", stderr: "" });
  const nowhere = await runCli(["capture", server.url, "-o", "no/bug.yaml"], { cwd });
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringMatching(/its folder does not exist/)]);
});

test("capture selects a part of the requests, and reports a request that does not exist", async () => {
  const server = await serve();
  await me(server, server.url, "active", "revoked", "none", "active");
  const [one, two, last] = server.sandbox.requests.list().map(({ id }) => id) as [string, string, string];
  const capture = (...words: string[]) => runCli(["capture", server.url, ...words]);
  const { stdout } = await capture("--from", two, "--to", last);
  expect(stdout.match(/path: \S+$/gm)).toEqual(["path: 401.revoked", "path: 401.missing"]);
  expect(stdout).toMatch(/request: { key: active }\n {2}- say: The capture starts here\./);
  expect((await capture("--key", "active")).stdout.match(/path: \S+$/gm)).toEqual([
    "path: 200.test",
    "path: 200.test",
  ]);
  expect((await capture("--key", "none")).stdout.match(/path: \S+$/gm)).toEqual(["path: 401.missing"]);
  const wrong: [words: string[], says: RegExp][] = [
    [
      ["--from", "req_none"],
      /The request "req_none" cannot be captured; the first one is req_\w+, the last one req_\w+\.\n$/,
    ],
    [["--from", last, "--to", one], /from is req_\w+, which came after req_\w+: exchange the two\.\n$/],
    [["--key", "nobody"], /^Unknown key "nobody"/],
    [["--key", "live"], /the sandbox got no request with the key live there\.\n$/],
    [["--from", ""], /Use an id or a ref/],
  ];
  for (const [words, says] of wrong)
    expect(await capture(...words)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
});

test("capture shows why there is nothing to capture", async () => {
  const server = await serve();
  const off = await serve({ control: false });
  const other = createServer((_request, response) => response.end("hello"));
  const cases: [url: string, says: RegExp][] = [
    [server.url, /the sandbox got no request yet, or none since its reset\.\n$/],
    [off.url, /there is no control plane at this URL/],
    [`http://127.0.0.1:${await listening(other)}`, /returned 200, without a scenario/],
  ];
  for (const [url, says] of cases) {
    expect(await runCli(["capture", url])).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(says),
    });
  }
});

test("an instance is captured by its URL, from its last reset on", async () => {
  const server = await serve();
  const { body } = await control(server.controlUrl, "POST /instances", { scenario: "key-states" });
  const { base_url: url, control_url: controlUrl } = body.data;
  await me(server, url, "active", "active");
  await control(controlUrl, "POST /reset");
  await me(server, url, "revoked");
  const { stdout } = await runCli(["capture", url]);
  expect(stdout.match(/path: \S+$/gm)).toEqual(["path: 401.revoked"]);
});

test("exec writes what the sandbox has seen when the run fails, and only then", async () => {
  const cwd = clientFolder();
  const fine = await execHere(["--capture", "seen", "--", ...client("active")], { cwd });
  expect([fine.code, readdirSync(cwd)]).toEqual([0, expect.not.arrayContaining(["seen"])]);
  const failed = await execHere(
    ["--capture", "seen", "--min-coverage", "90", "--", ...client("active", "revoked")],
    { cwd },
  );
  expect(failed.code).toBe(5);
  expect(failed.stderr).toMatch(/The sandbox's captures are in seen: capture\.yaml\.\n$/);
  expect(await runCli(["verify", "seen/capture.yaml"], { cwd })).toMatchObject({ code: 0 });

  const inInstance =
    'const { data } = await (await fetch(process.env.SVC_CONTROL_URL + "/instances", { method: "POST", body: \'{"label":"Test 1"}\', headers: { "content-type": "application/json" } })).json(); await fetch(data.base_url + "/v1/relying-party/me"); process.exit(7)';
  const program = [process.execPath, "--input-type=module", "-e", inInstance];
  const seven = (...flags: string[]) =>
    execHere([...flags, "--capture", "instances", "--", ...program], { cwd });
  expect(await seven("--quiet")).toMatchObject({ code: 7, stderr: "" });
  expect(readdirSync(join(cwd, "instances"))).toEqual(["capture-test-1.yaml"]);
  expect((await seven()).stderr).toMatch(
    /^(?!.*got no request yet).* in instances: capture-test-1\.yaml\.\n$/ms,
  );
  expect(await runCli(["verify", "instances/capture-test-1.yaml"], { cwd })).toMatchObject({ code: 0 });

  const idle = await execHere(["--capture", "idle", "--", "false"], { cwd });
  expect([idle.code, idle.stderr]).toEqual([1, expect.stringMatching(/the sandbox got no request yet.*\n$/)]);
  const blocked = await execHere(
    ["--capture", "client.mjs/x", "--quiet", "--min-coverage", "90", "--", ...client("active")],
    { cwd },
  );
  expect([blocked.code, blocked.stderr]).toEqual([
    5,
    expect.stringMatching(/Failed to write "client\.mjs\/x"/),
  ]);
});
