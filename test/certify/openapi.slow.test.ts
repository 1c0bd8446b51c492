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
  const outputs = ["json", "md", "txt"].flatMap((end) => ["--certificate", `c.${end}`]);
  const certified = await run("scenario.yaml", "--openapi", document, "--seeds", "1", ...outputs);
  const { verdict, document: named } = JSON.parse(readFileSync(join(cwd, "c.json"), "utf8"));
  const digest = createHash("sha256").update(text).digest("hex");
  const info = { title: "Relying-Party API", version: "0.2.0", file: document, digest, given: true };
  expect([certified.code, verdict, named]).toEqual([0, "passed", info]);
  const [page, plain] = ["c.md", "c.txt"].map((file) => readFileSync(join(cwd, file), "utf8"));
  const line = `Relying-Party API 0.2.0 (${document}, sha256 ${digest})`;
  expect(page?.replaceAll("\\", "")).toContain(line);
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

test("a client that reads a member as a number is named, and the client of the example is not", async () => {
  const wrongType = "200.readReport:pages-wrong-type";
  const careless: readonly Change[] = [
    ["!Number.isInteger(pages)", "Number(pages) < 0"],
    ["status, pages };", "status, pages: Number(pages) };"],
  ];
  for (const [changes, outcome] of [
    [[], "noticed"],
    [careless, "not_noticed"],
  ] as const)
    expect((await certified(changes, "--only", wrongType)).found).toMatchObject({ [wrongType]: outcome });
});
