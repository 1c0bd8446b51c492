import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { mePath } from "../support/send.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe("certify --next", () => {
  const client = (wanted: string) =>
    `const { SVC_BASE_URL: base, SVC_KEY_RATE_LIMITED: key } = process.env;
     fetch(base + "${mePath}", { headers: { "x-api-key": key } }).then((r) => r.json()).then(({ error }) => {
       process.exit(${wanted} ? 0 : 1);
     });`;
  const changes = `version: 1
extends: key-states
changes:
  limit-code: { at: 2027-06-01, say: Another code., codes: { rate_limited: quota_exceeded } }
  scopes: { at: 2027-06-01, scopes: { add: ["farms:read"] } }
`;
  const run = (wanted: string, ...flags: string[]) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "changes.yaml"), changes);
    const command = [process.execPath, "-e", client(wanted)];
    const argv = ["certify", "--next", "changes.yaml", ...flags, "--", ...command];
    return runCli(argv, { cwd }).then((ran) => ({ ...ran, cwd }));
  };

  test("prints a calendar, and writes it as JUnit, HTML and JSON", async () => {
    const files = ["xml", "html", "json"].flatMap((end) => ["--certificate", `calendar.${end}`]);
    const intercept = ["--intercept", "api.example"];
    const { code, stdout, cwd } = await run('error.code === "rate_limited"', ...intercept, ...files);
    expect(code).toBe(1);
    expect(stdout.replace(/\s+/g, " ")).toContain(
      "2027-06-01 limit-code Breaks on 2027-06-01: relies on the code `rate_limited` of a 429; read the status.",
    );
    expect(stdout).toMatch(/last request {2}429\.per_day, 429, req_\w+/);
    expect(stdout.replace(/[\s\\]+/g, " ")).toContain(
      "exec key-states --at 2027-06-01 --changes changes.yaml --intercept api.example -- ",
    );
    expect(stdout).toMatch(/2027-06-01 {2}scopes {2}not covered/);
    expect(readFileSync(join(cwd, "calendar.xml"), "utf8")).toContain(
      'tests="2" failures="1" errors="0" skipped="1"',
    );
    expect(readFileSync(join(cwd, "calendar.html"), "utf8")).toContain("Breaks on 2027-06-01");
    expect(JSON.parse(readFileSync(join(cwd, "calendar.json"), "utf8"))).toMatchObject({
      verdict: "failed",
      changes: [
        { ref: "limit-code", breaks_on: "2027-06-01" },
        { ref: "scopes", verdict: "not_covered" },
      ],
    });
  });

  test.each([
    ["passes", "error", [], 0, "passed"],
    ["must pass without any change", "false", [], 1, "unusable"],
  ])("a client %s", async (_, wanted, flags, expected, verdict) => {
    const { code, stdout } = await run(wanted, "--format", "brief", ...flags);
    expect([code, JSON.parse(stdout).verdict]).toEqual([expected, verdict]);
  });

  test("names the path of the endpoint that moves, and each part of its change", async () => {
    const move = "move: { to: /v2/relying-party/reports, sunset: 2027-12-01 }";
    const cwd = temporaryFolder({
      "changes.yaml": `version: 1
extends: key-states
openapi: ${join(root, "examples/openapi/relying-party-0.2.0.yaml")}
changes:
  both: { at: 2027-06-01, operation: createReport, ${move}, headers: { add: { X-Version: "2" } } }
`,
    });
    const script = `fetch(process.env.SVC_BASE_URL + "/v1/relying-party/reports", {
      method: "POST", body: '{"months":12}',
      headers: { "x-api-key": process.env.SVC_API_KEY, "content-type": "application/json" },
    }).then(({ status }) => process.exit(status === 201 ? 0 : 1))`;
    const document = ["--openapi", join(root, "examples/openapi/relying-party-0.2.0.yaml")];
    const argv = ["certify", ...document, "--next", "changes.yaml", "--", process.execPath, "-e", script];
    const { stdout } = await runCli(argv, { cwd });
    const text = stdout.replace(/[\s\\]+/g, " ");
    expect(text).toContain("Breaks on 2027-12-01: calls `/v1/relying-party/reports` after its sunset or");
    expect(text).toContain(
      `exec key-states --at 2027-12-01 --changes changes.yaml ${document.join(" ")} -- `,
    );
  });

  test("rejects a scenario without changes", async () => {
    const argv = ["certify", "--next", "active", "--", process.execPath, "-e", ""];
    expect(await runCli(argv)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"active" has no announced changes'),
    });
  });
});

test("exec --at starts the clock at a date of --changes", async () => {
  const script = `fetch(process.env.SVC_BASE_URL + "${mePath}", { headers: { "x-api-key": process.env.SVC_API_KEY } })
    .then((r) => process.exit(r.status === 404 ? 9 : r.headers.has("deprecation") ? 8 : 7))`;
  const at = async (date: string) => {
    const argv = [
      ...["exec", "--quiet", "--at", date, "--changes", "announced-changes", "--", process.execPath, "-e"],
      script,
    ];
    return (await runCli(argv)).code;
  };
  expect(await Promise.all(["2027-05-31", "2027-06-01", "2027-12-01"].map(at))).toEqual([7, 8, 9]);
});
