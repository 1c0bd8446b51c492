import { createHash } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The example with a document, in a new folder: its client is certified as it is, and a flaw in it is named.

type Change = readonly [from: string, to: string];

/** The outcome of each run of the changed client, and its cause. */
async function certified(changes: readonly Change[], ...flags: string[]) {
  const cwd = temporaryFolder();
  cpSync(join(root, "examples/openapi"), cwd, { recursive: true });
  const file = join(cwd, "client.js");
  const client = readFileSync(file, "utf8");
  expect(changes.filter(([from]) => !client.includes(from))).toEqual([]);
  writeFileSync(
    file,
    changes.reduce((text, [from, to]) => text.replace(from, to), client),
  );
  const argv = ["certify", "scenario.yaml", "--openapi", "relying-party-0.2.0.yaml", "--json", ...flags];
  const { code, stdout } = await runCli([...argv, "--", process.execPath, "client.test.js"], { cwd });
  const { verdict, runs, promises, retries = [] } = JSON.parse(stdout);
  const rows: [string, string][] = [...runs, ...promises.runs, ...retries].map((row) => {
    return [row.name ?? row.id ?? row.after, row.cause?.sentence ?? row.outcome];
  });
  return { code, verdict, found: Object.fromEntries(rows) };
}

test("the certificate of the example names its document", async () => {
  const cwd = temporaryFolder();
  cpSync(join(root, "examples/openapi"), cwd, { recursive: true });
  const document = "relying-party-0.2.0.yaml";
  const text = readFileSync(join(cwd, document), "utf8");
  const run = (...flags: string[]) =>
    runCli(["certify", ...flags, "--", process.execPath, "client.test.js"], { cwd });
  const outputs = ["json", "html", "txt"].flatMap((end) => ["--certificate", `c.${end}`]);
  const certified = await run("scenario.yaml", "--openapi", document, "--seeds", "1", ...outputs);
  const { verdict, document: named } = JSON.parse(readFileSync(join(cwd, "c.json"), "utf8"));
  const digest = createHash("sha256").update(text).digest("hex");
  const info = { title: "Relying-Party API", version: "0.2.0", file: document, digest, given: true };
  expect([certified.code, verdict, named]).toEqual([0, "passed", info]);
  const [page, plain] = ["c.html", "c.txt"].map((file) => readFileSync(join(cwd, file), "utf8"));
  const line = `Relying-Party API 0.2.0 (${document}, sha256 ${digest})`;
  expect(page?.replaceAll("<wbr>", "")).toContain(line);
  expect(plain?.replace(/\s+/g, " ")).toContain(`document ${line}`);
});

test("a client that needs an optional member of a documented response is shown this cause", async () => {
  const needsReason =
    "if (response.status === 200 && body.data.reason === undefined) throw new Error();\n  const { id,";
  const { code, found } = await certified(
    [["const { id,", needsReason]],
    "--seeds",
    "4",
    "--promises",
    "none",
  );
  expect(code).toBe(1);
  expect(Object.values(found).join()).toContain("members of its document");
});

const wrongType = "200.readReport:pages-wrong-type";
const chosen = ["--only", wrongType, "--only", "fault.hang", "--only", "retries"];
const timeout = ["--timeout", "15s"];
const resend = `const ask = async (...request) => {
  const response = await once(...request);
  return response.status === 401 ? once(...request) : response;
};
const once = (`;

test("the client of the example has no flaw in the runs that name one below", async () => {
  const { found } = await certified([], ...chosen);
  expect(found).toMatchObject({
    [wrongType]: "noticed",
    "fault.hang": expect.stringMatching(/^fails when/),
    401: "passed",
  });
});

test.each<readonly [flaw: string, changes: readonly Change[], flags: readonly string[], found: object]>([
  [
    "reads a member as a number",
    [
      ["!Number.isInteger(pages)", "Number(pages) < 0"],
      ["status, pages };", "status, pages: Number(pages) };"],
    ],
    ["--only", wrongType],
    { [wrongType]: "not_noticed" },
  ],
  [
    "has no timeout",
    [["signal: AbortSignal.timeout(5000),", ""]],
    ["--only", "fault.hang", ...timeout],
    {
      "fault.hang": expect.stringMatching(/^still waiting after 15 s, when .* 201\.createReport never gets/),
    },
  ],
  ["retries 401", [["const ask = (", resend]], ["--only", "retries"], { 401: "failed", 403: "passed" }],
])("a client that %s is named", async (_, changes, flags, found) => {
  const { found: all } = await certified(changes, ...flags);
  expect(all).toMatchObject(found);
});
