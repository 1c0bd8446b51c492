import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { loadScenario } from "../../src/server/start-server.js";
import { probeKeys, serveProbed, setIn } from "../support/probed-server.js";
import { runCli, startCli } from "../support/run-cli.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const heading = "# Written by compare, which replaces this file: extend it.";
const timeless = (text: string) => text.replace(/\d{4}-\S+Z/, "TIME");

test("with one test key, a comparison writes a scenario that starts, and that another one extends", async () => {
  const server = await served({ profile: "typical", now: "2026-03-02T09:00:00Z", frozen: true });
  const cwd = temporaryFolder({
    "mine.yaml": "version: 1\nextends: ./real.yaml\nassumptions: { rate_limit_headers: none }\n",
  });
  const env = { SVC_API_KEY: server.sandbox.secret("active") };
  const argv = ["compare", server.url, "--probe-limits", "--write-scenario", "real.yaml"];
  const { code, stderr } = await runCli(argv, { env, cwd });
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(
      /^Wrote 6 assumptions to "real\.yaml"\. Start it with: svc-sandbox start real\.yaml$/m,
    ),
  ]);
  const text = readFileSync(join(cwd, "real.yaml"), "utf8");
  expect(timeless(text)).toBe(`${heading}
# What ${new URL(server.url).host} does, compared at TIME.
version: 1
extends: key-states
assumptions:
  request_id_on_errors: true # each 401, 429.per_minute; not seen: 403, 429.per_day
  www_authenticate: true # each 401
  error_details: true # 429.per_minute; not seen: 403, 429.per_day
  rate_limit_code: "rate_limited" # 429.per_minute; not seen: 429.per_day
  retry_after: "seconds" # 429.per_minute; not seen: 429.per_day
  rate_limit_headers: "draft" # 200.test, 429.per_minute; not seen: 429.per_day
`);
  expect(statSync(join(cwd, "real.yaml")).mode & 0o777).toBe(0o600);
  const { scenario } = await loadScenario(join(cwd, "real.yaml"));
  expect(createSandbox({ scenario }).assumptions).toMatchObject({ retry_after: "seconds" });
  const extended = await loadScenario(join(cwd, "mine.yaml"));
  expect(extended.scenario.assumptions).toMatchObject({ retry_after: "seconds", rate_limit_headers: "none" });
  const client = `const { headers } = await fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me");
process.exit(headers.has("www-authenticate") ? 0 : 9);`;
  const exec = ["exec", "real.yaml", "--quiet", "--", "node", "--input-type=module", "-e", client];
  expect(await runCli(exec, { cwd })).toMatchObject({ code: 0 });
});

test("a difference does not keep a comparison from writing, and a later one replaces its file", async () => {
  let hasChallenge = false;
  const server = await serveProbed((reply, { ref }) => {
    if (ref === "active") setIn(reply, "body.data.environment", "live");
    if (reply.status === 401 && hasChallenge) reply.headers["WWW-Authenticate"] = "ApiKey";
  });
  const cwd = temporaryFolder({});
  const argv = ["compare", server.url, "--write-scenario", "real.yaml"];
  const written = async () => {
    const { code } = await runCli(argv, { env: probeKeys, cwd });
    return [code, readFileSync(join(cwd, "real.yaml"), "utf8").match(/www_authenticate: \w+/)?.[0]];
  };
  expect(await written()).toEqual([1, "www_authenticate: false"]);
  hasChallenge = true;
  expect(await written()).toEqual([1, "www_authenticate: true"]);
  expect(readFileSync(join(cwd, "real.yaml"), "utf8")).not.toMatch(/SVC_|Secret|me\b.*http/);
});

test("a file that is not its own, and one that cannot be written, is an error before the first request", async () => {
  const server = await serveProbed();
  const cwd = temporaryFolder({ "mine.yaml": `version: 1\n${heading}\n`, "folder/x.yaml": "" });
  for (const [name, message] of [
    [
      "mine.yaml",
      /^Failed to write "mine\.yaml": compare did not write what is there\. Name another file with --write-scenario\.\n$/,
    ],
    ["-", /^--write-scenario needs the name of a file: /],
    ["folder", /^Failed to write "folder": EISDIR/],
    ["none/real.yaml", /^Failed to write "none\/real\.yaml": ENOENT/],
    ["/dev/null", /^Failed to write "\/dev\/null": it is not a regular file\. /],
  ] as const) {
    const ran = await runCli(["compare", server.url, "--write-scenario", name], { env: probeKeys, cwd });
    expect(ran).toEqual({ ...ran, code: 2, stdout: "", stderr: expect.stringMatching(message) });
  }
  expect(server.requests()).toEqual([]);
  expect(readFileSync(join(cwd, "mine.yaml"), "utf8")).toMatch(/^version/);
});

test.each([
  ["lines of Windows", `${heading}\r\nversion: 1\r\n`, true],
  ["a longer heading", `${heading} Not.\nversion: 1\n`, false],
  ["a line before it", `version: 1\n${heading}\n`, false],
])("a comparison knows its own file by the heading, with %s: %j, %j", async (_change, text, isOwn) => {
  const server = await serveProbed();
  const cwd = temporaryFolder({ "real.yaml": text });
  const { code } = await runCli(["compare", server.url, "--write-scenario", "real.yaml"], {
    env: probeKeys,
    cwd,
  });
  expect(code).toBe(isOwn ? 0 : 2);
  expect(readFileSync(join(cwd, "real.yaml"), "utf8") === text).toBe(!isOwn);
});

test("a file that appears during the comparison is not replaced", async () => {
  const cwd = temporaryFolder({});
  const server = await serveProbed((_reply, { number }) => {
    if (number === 2) writeFileSync(join(cwd, "real.yaml"), "mine: 1\n");
  });
  const ran = await runCli(["compare", server.url, "--write-scenario", "real.yaml"], { env: probeKeys, cwd });
  expect([ran.code, ran.stderr]).toEqual([
    2,
    expect.stringMatching(/^Failed to write "real\.yaml": compare did not/m),
  ]);
  expect(ran.stdout).toContain("Nothing differs from the contract");
  expect(readFileSync(join(cwd, "real.yaml"), "utf8")).toBe("mine: 1\n");
});

test("a comparison that a response ended keeps the file of an earlier one", async () => {
  const cwd = temporaryFolder({});
  let isLocked = false;
  const server = await serveProbed((reply) => {
    if (isLocked && reply.status === 200) {
      Object.assign(reply, { status: 429, headers: { ...reply.headers, "Retry-After": "900" } });
    }
  });
  const argv = ["compare", server.url, "--write-scenario", "real.yaml"];
  await runCli(argv, { env: probeKeys, cwd });
  const text = readFileSync(join(cwd, "real.yaml"), "utf8");
  isLocked = true;
  const { code, stderr } = await runCli(argv, { env: probeKeys, cwd });
  expect([code, stderr]).toEqual([1, '"real.yaml" was kept: the comparison ended early, at 200.test.\n']);
  expect(readFileSync(join(cwd, "real.yaml"), "utf8")).toBe(text);
});

test("a signal ends a comparison with what it has, and writes no file", async () => {
  const cwd = temporaryFolder({});
  const running: { stop?: () => unknown } = {};
  const server = await serveProbed((_reply, { number }) => {
    if (number !== 5) return;
    running.stop?.();
    return "handled";
  });
  const argv = ["compare", server.url, "--write-scenario", "real.yaml"];
  const started = startCli(argv, { env: probeKeys, cwd });
  running.stop = () => started.stop("SIGINT");
  const { code, stdout } = await started.done;
  expect(code).toBe(130);
  expect(stdout).toMatch(/: 5 of at most 90 requests\n/);
  expect(stdout).toMatch(
    /^ {2}200\.test +agrees in part +200, SVC_KEY_ACTIVE, R24 was not judged: it was stopped by SIGINT$/m,
  );
  expect(stdout).toMatch(/ not tried +it was stopped by SIGINT$/m);
  expect(stdout).toMatch(/^Stopped early\. /m);
  expect(existsSync(join(cwd, "real.yaml"))).toBe(false);
});

test("if nothing was compared, nothing is written, and a line shows it", async () => {
  const server = await serveProbed((reply) => void Object.assign(reply, { status: 302 }));
  const cwd = temporaryFolder({});
  const argv = ["compare", server.url, "--write-scenario", "real.yaml"];
  const first = await runCli(argv, { env: probeKeys, cwd });
  expect(first.code).toBe(1);
  expect(first.stderr).toMatch(/^"real\.yaml" was not written: no assumption was seen\.$/m);
  expect(existsSync(join(cwd, "real.yaml"))).toBe(false);
  writeFileSync(join(cwd, "real.yaml"), `${heading}\n`);
  await runCli(argv, { env: probeKeys, cwd });
  expect(readFileSync(join(cwd, "real.yaml"), "utf8")).toBe(`${heading}\n`);
});
