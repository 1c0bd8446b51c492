import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { propertySeed } from "../support/property-seed.js";
import { reportedIn } from "../support/report-file.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { runExec } from "./exec-client.js";

// A program in any language starts servers in this way; the packages in `packaging` do.
const started = `
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { readdirSync, readFileSync } from "node:fs";

const { SVC_SANDBOX_BIN, SVC_SANDBOX_RUN } = process.env;
async function start(...words) {
  const child = spawn(SVC_SANDBOX_BIN, ["start", ...words, "--port", "0", "--json", "--until-stdin-ends", "--quiet"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await new Promise((resolve) => createInterface(child.stdout).once("line", (...all) => resolve(all)));
  return { ...JSON.parse(line), child };
}
async function me({ base_url: url }, key) {
  return (await fetch(url + "/v1/relying-party/me", { headers: { "x-api-key": key } })).status;
}
async function control({ control_url: url }, path, body) {
  const headers = { "content-type": "application/json" };
  const method = body === undefined ? "GET" : "POST";
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return (await response.json()).data;
}
const traces = () =>
  readdirSync(SVC_SANDBOX_RUN)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(SVC_SANDBOX_RUN + "/" + name, "utf8").trim().split("\\n"))
    .flatMap((line) => JSON.parse(line).trace ?? []);
const end = (...all) => all.forEach(({ child }) => child.kill("SIGKILL"));
`;

/** Runs a client under the built `exec`; what it prints is JSON. */
async function run(code: string, flags: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const cwd = temporaryFolder({ "client.mjs": started + code, ...files });
  const argv = [...flags, "--report", "report.json", "--", process.execPath, "client.mjs"];
  const { code: end, stdout, stderr } = await runExec(argv, { cwd });
  return { code: end, stdout, stderr, ...reportedIn(cwd) };
}

describe("a server that a command of exec starts", () => {
  it("counts request by request in the report and thresholds, over all resets, also if it is killed", async () => {
    const { code, requests, covered } = await run(
      `
const [one, two] = await Promise.all([start(), start()]);
await me(one, one.keys.active);
const { keys } = await control(one, "/reset", { scenario: "rotation" });
await me(one, keys.retiring);
await me(two, two.keys.revoked);
end(one, two);`,
      ["--min-coverage", "15"],
    );
    expect([code, requests, covered]).toEqual([0, 3, ["200.test", "200.retiring", "401.revoked"]]);
  });

  it("counts the successes of endpoints with any name", async () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
    const names = [
      "list-consents",
      "_".padStart(64, "a"),
      ...fc.sample(name, { ...propertySeed, numRuns: 50 }),
    ];
    const endpoints = Object.fromEntries(names.map((one, index) => [one, { path: `/e/${index}` }]));
    const scenario = { version: 1, extends: "active", endpoints };
    const code = `
const one = await start("own.yaml");
for (const { path } of Object.values(${JSON.stringify(endpoints)}))
  await fetch(one.base_url + path, { headers: { "x-api-key": Object.values(one.keys)[0] } });
end(one);`;
    const { code: end, covered } = await run(code, [], { "own.yaml": JSON.stringify(scenario) });
    expect([end, covered]).toEqual([0, Object.keys(endpoints).map((one) => `200.${one}`)]);
  });

  it("counts nothing if no request reaches it", async () => {
    const { code, requests } = await run("end(await start());", []);
    expect([code, requests]).toEqual([4, 0]);
  });

  it("has the run's scenario, options and faults unless it sets its own, and the run's profile", async () => {
    const { stdout, requests } = await run(
      `
const shown = async (one) => [one.scenario, one.seed, (await control(one, "/clock")).now.slice(0, 10)];
// Only the profile typical has it on errors.
const isTypical = async (one) => (await fetch(one.base_url + "/v1/relying-party/me")).headers.has("x-request-id");
const [one, own] = await Promise.all([start(), start("rotation", "--seed", "3", "--now", "2030-01-01T00:00:00Z", "--profile", "minimal")]);
console.log(JSON.stringify({ one: await shown(one), own: await shown(own), isTypical: await isTypical(own), status: await me(one, one.keys.revoked) }));
end(one, own);`,
      [
        ...["revoked", "--seed", "7", "--now", "2028-01-01T00:00:00Z", "--profile", "typical"],
        ...["--fault", "fault.status@401.revoked"],
      ],
    );
    expect(JSON.parse(stdout)).toEqual({
      ...{ one: ["revoked", 7, "2028-01-01"], own: ["rotation", 3, "2030-01-01"] },
      ...{ isTypical: true, status: 503 },
    });
    expect(requests).toBe(2);
  });

  it("reports a seed of the client's own to the run, from its start or from a reset", async () => {
    const { stdout } = await run(
      `
const [one, own] = await Promise.all([start(), start("--seed", "6")]);
await me(one, one.keys.active);
await control(one, "/reset", { seed: 7 });
await me(one, one.keys.active);
await me(own, own.keys.active);
console.log(JSON.stringify(traces().map(({ ownSeed }) => ownSeed ?? null)));
end(one, own);`,
      ["--seed", "5", "--profile", "varied"],
    );
    const seeds = JSON.parse(stdout);
    expect(seeds).toHaveLength(3);
    expect(seeds).toEqual(expect.arrayContaining([null, 7, 6]));
  });
});

test("start --watch in a run says that the scenario came from the run, and names no file to write", async () => {
  const file = "version: 1\norganizations: { b: { type: bank, keys: { main: { environment: test } } } }\n";
  const code = `
const words = ["start", "--watch", "--port", "0", "--json", "--until-stdin-ends"];
const child = spawn(SVC_SANDBOX_BIN, words, { stdio: ["pipe", "pipe", "inherit"] });
child.stdout.once("data", () => child.stdin.end());
await new Promise((resolve) => child.once("close", resolve));`;
  const { stderr } = await run(code, ["my.yaml", "--min-coverage", "0"], { "my.yaml": file });
  expect(stderr).toContain("Nothing to watch: ");
  expect(stderr).not.toContain("show my.yaml");
});

test.each([
  ["exec", "key-states", "--help"],
  ["help", "exec"],
])("a flag for help stays one of the command: %s %s", async (...argv) => {
  expect((await runCli(argv)).code).toBe(0);
});
