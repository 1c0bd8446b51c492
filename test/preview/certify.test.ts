import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brokenPromisesOf } from "../../src/api/promises.js";
import { endpointsIn } from "../../src/api/routes.js";
import type { PromiseRun } from "../../src/certify/result.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const scenario = `version: 1
preview: true
organizations:
  bank:
    type: bank
    keys:
      main: { environment: test, scopes: [consents:write, attestations:read] }
      reader: { environment: test, scopes: [attestations:read] }
      revoked: { environment: test, scopes: [consents:write], state: revoked }
      narrow: { environment: test, scopes: [attestations:write] }
      busy: { environment: test, scopes: [attestations:read], limits: { per_minute: 0 } }
`;

/** Never calls /me; looks at the status of each response, and at one member of a success. */
const client = `const send = async (key, path, body) => {
    const headers = { ...(key && { "x-api-key": key }), "content-type": "application/json" };
    const response = await fetch(process.env.SVC_BASE_URL + "/v1/relying-party/" + path, { method: body ? "POST" : "GET", headers, body });
    return { status: response.status, data: (await response.json()).data };
  };
  const expect = (found, wanted) => { if (found !== wanted) throw new Error("found " + found + ", and not " + wanted); };
  const keys = [["MAIN", 200], ["READER", 200], ["REVOKED", 401], ["NARROW", 403], ["BUSY", 429], ["UNKNOWN", 401]];
  for (const [ref, status] of keys) expect((await send(process.env["SVC_KEY_" + ref], "attestations")).status, status);
  expect((await send(undefined, "attestations")).status, 401);
  const body = JSON.stringify({ farmer_id: "nobody", purpose: { code: "monitoring", text: "To monitor a loan." }, permissions: ["land"] });
  expect((await send(process.env.SVC_KEY_MAIN, "consent-requests", body)).status, 404);
  expect(Array.isArray((await send(process.env.SVC_KEY_MAIN, "attestations")).data), true);`;

test("a client of announced endpoints is certified: their promises are tried, marked, and never fail it", async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "svc-sandbox.yaml"), scenario);
  const argv = ["certify", "--json", "--seeds", "0", "--promises", "all", "--", process.execPath];
  const { code, stdout } = await runCli([...argv, "--input-type=module", "-e", client], { cwd });
  const { verdict, promises, retries, report } = JSON.parse(stdout);
  expect([code, verdict]).toEqual([0, "passed"]);
  const runs: PromiseRun[] = promises.runs;
  const announced = runs.filter((run) => run.announced);
  const idOf = (name: string) => `200.listAttestations:${name}`;
  expect(announced.map(({ id, outcome }) => [id, outcome])).toEqual([
    [idOf("rejected"), "noticed"],
    ...["data-missing", "data-null", "data-wrong-type"].map((name) => [idOf(name), "noticed"]),
    ...["page-missing", "page-null", "page-wrong-type"].map((name) => [idOf(name), "not_noticed"]),
    ...["invalid-json", "status-500"].map((name) => [idOf(name), "noticed"]),
  ]);
  const counted = runs.filter((run) => !run.announced);
  const untried = counted.filter(({ outcome }) => outcome === "not_tried").map(({ id }) => id);
  expect(untried).toEqual(["429.per_minute:never-ends"]);
  expect(promises).toMatchObject({ tried: counted.length - 1 });
  expect(new Set(retries.map(({ outcome }: { outcome: string }) => outcome))).toEqual(new Set(["passed"]));
  const successes = report.paths.filter(
    (row: { path_id: string; met: boolean }) => /^2/.test(row.path_id) && row.met,
  );
  expect(successes.map((row: { path_id: string }) => row.path_id)).toEqual(["200.listAttestations"]);
});

test.each<readonly [flaw: string, change: readonly [from: string, to: string], run: string, found: string]>([
  [
    "does not look at the list",
    ["Array.isArray(", "undefined !== ("],
    "200.listAttestations:data-wrong-type",
    "not_noticed",
  ],
  [
    "retries 401",
    [
      "return { status:",
      "if (response.status === 401) await fetch(response.url, { headers });\n    return { status:",
    ],
    "401",
    "failed",
  ],
])("a client of announced endpoints that %s is named, and a correct one is not", async (_, [
  from,
  to,
], run, found) => {
  const cwd = temporaryFolder({ "svc-sandbox.yaml": scenario });
  const only = /^\d+$/.test(run) ? "retries" : run;
  const outcome = async (text: string) => {
    const argv = [
      "certify",
      "--json",
      "--only",
      only,
      "--",
      process.execPath,
      "--input-type=module",
      "-e",
      text,
    ];
    const { promises, retries = [] } = JSON.parse((await runCli(argv, { cwd })).stdout);
    return [...promises.runs, ...retries].find(({ id, after }) => (id ?? after) === run)?.outcome;
  };
  expect(client).toContain(from);
  expect(await outcome(client.replace(from, to))).toBe(found);
  expect(await outcome(client)).toBe(found === "failed" ? "passed" : "noticed");
});

test("each built-in endpoint has promises, with words and at most twelve rows for members", () => {
  const endpoints = endpointsIn({ version: 1, preview: true });
  const all = brokenPromisesOf(endpoints);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  for (const { operationId } of endpoints.slice(1)) {
    const rows = all.filter(({ path }) => path.endsWith(`.${operationId}`));
    expect(rows.length).toBeGreaterThanOrEqual(6);
    expect(rows.length).toBeLessThanOrEqual(15);
    for (const { sentence, loss } of rows) expect(sentence + loss).not.toMatch(/[{}]|undefined/);
  }
});
