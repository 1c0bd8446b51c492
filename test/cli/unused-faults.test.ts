import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../support/pages.js";
import { baseUrl, runCli, serve } from "../support/run-cli.js";
import { client, clientFolder, execHere, reportIn } from "./exec-client.js";

const keys = "{ main: { environment: test }, other: { environment: test }, rest: { environment: test } }";
const scenario = `version: 1
organizations: { b: { name: B, type: bank, keys: ${keys} } }
faults:
  - { when: { key: main }, then: { status: 503 } }
  - { when: { key: other, every: 2 }, then: { latency: 1ms } }
  - { when: { key: rest, until: 1h }, then: { status: 502 } }
`;

/** What exec reports about faults, as text and as JSON. */
async function faultsAfter(argv: readonly string[], ...words: string[]) {
  const cwd = clientFolder({ "svc-sandbox.yaml": scenario });
  const line = [...argv, "--min-coverage", "0", "--report", "r.json", "--report", "-", "--", ...words];
  const { stdout, code } = await execHere(line, { cwd });
  expect(code).toBe(0);
  const merged = await runCli(["report", "--merge", "r.json", "--json"], { cwd });
  const { configured_faults: rows } = reportIn(merged.stdout);
  const requests = rows.map((row: { text: string; requests: number }) => [row.text, row.requests]);
  const [, section = ""] = /\nFaults that hit no request\n((?: .*\n)*)/.exec(stdout) ?? [];
  return { requests: Object.fromEntries(requests), section };
}

const ofMain = '{"when":{"key":"main"},"then":{"status":503}}';
const ofOther = '{"when":{"key":"other","every":2},"then":{"latency":"1ms"}}';
const ofRest = '{"when":{"key":"rest","until":"1h"},"then":{"status":502}}';

it("a fault of the command line that hit no request is in the report of exec", async () => {
  const { requests, section } = await faultsAfter(
    ["active", "--fault", "fault.reset@401.revoked"],
    ...client("active"),
  );
  expect(requests).toEqual({ "fault.reset@401.revoked": 0 });
  expect(section).toBe("  --fault  fault.reset@401.revoked\n");
});

it("one that hit a request is not listed, and one on each outcome is listed for those without a request", async () => {
  const hit = await faultsAfter(["key-states", "--fault", "fault.status@401.revoked"], ...client("revoked"));
  expect(hit).toEqual({ requests: { "fault.status@401.revoked": 1 }, section: "" });

  const { requests, section } = await faultsAfter(["key-states", "--fault", "fault.hang"], "true");
  expect(new Set(Object.values(requests))).toEqual(new Set([0]));
  // A client that sent nothing gets another hint.
  expect(section).toBe("");
  const one = await faultsAfter(["key-states", "--fault", "fault.status"], ...client("revoked"));
  expect(one.section).toMatch(/^ {2}--fault {2}fault\.status@200\.test, .*401\.expired, /);
  expect(one.section).not.toContain("401.revoked");
});

it("a fault of the scenario is listed if its condition held for no request, and not after a reset", async () => {
  const { requests, section } = await faultsAfter([], ...client("main", "POST:/reset", "other", "main"));
  expect(requests).toEqual({ [ofMain]: 2, [ofOther]: 0, [ofRest]: 0 });
  expect(section).toBe(`  scenario  ${ofOther}\n  scenario  ${ofRest}\n`);
});

it("requests to sandboxes in the command's own processes count", async () => {
  const cwd = clientFolder({ "svc-sandbox.yaml": scenario });
  const code = `import { createSandbox } from ${JSON.stringify(join(root, "dist/esm/index.js"))};
const sandbox = createSandbox();
for (const key of ["main", "rest"]) await sandbox.fetch("https://api.example/v1/relying-party/me", { headers: { "x-api-key": sandbox.secret(key) } });`;
  writeFileSync(join(cwd, "own.mjs"), code);
  const line = ["--min-coverage", "0", "--format", "json", "--", process.execPath, "own.mjs"];
  const { stderr } = await execHere(line, { cwd });
  const { configured_faults: rows } = reportIn(stderr);
  expect(rows.map((row: { requests: number }) => row.requests)).toEqual([1, 0, 1]);
});

it("the report of a running sandbox lists them, also those that are set later; merged reports add requests up", async () => {
  const cwd = clientFolder({ "svc-sandbox.yaml": scenario });
  const running = serve(["--json"], { cwd });
  const url = await baseUrl(running);
  const secrets = JSON.parse(running.stdout.text()).keys;
  await fetch(`${url}/v1/relying-party/me`, { headers: { "x-api-key": secrets.rest } });
  const { stdout } = await runCli(["report", url]);
  expect(stdout).toContain(`\nFaults that hit no request\n  scenario  ${ofMain}\n  scenario  ${ofOther}\n`);

  for (const name of ["one.json", "two.json"]) {
    const { stdout: json } = await runCli(["report", url, "--json"]);
    writeFileSync(join(cwd, name), json);
  }
  const merged = await runCli(["report", "--merge", "one.json", "two.json", "--json"], { cwd });
  const { configured_faults: rows } = reportIn(merged.stdout);
  expect(rows.map((row: { requests: number }) => row.requests)).toEqual([0, 0, 2]);
});
