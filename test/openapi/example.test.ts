import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";

// The example with a document, certified as its README shows.

function exampleWith(flaw: (client: string) => string): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-openapi-"));
  cpSync(join(root, "examples/openapi"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const file = join(folder, "client.js");
  writeFileSync(file, flaw(readFileSync(file, "utf8")));
  return folder;
}

const certify = (cwd: string) =>
  runCli(["certify", "scenario.yaml", "--seeds", "6", "--promises", "none", "--", "node", "--test"], { cwd });

test("the client of the example is certified", { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await certify(exampleWith((client) => client));
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("passed")]);
});

test("a client that needs an optional member of a documented response is named", {
  timeout: 120_000,
}, async () => {
  const cwd = exampleWith((client) =>
    client.replace(
      "const { id, status, pages } = body.data;",
      "const { id, status, pages } = body.data;\n  if (response.status === 200 && body.data.reason === undefined) throw new Error();",
    ),
  );
  const { code, stdout, stderr } = await certify(cwd);
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("members of its document")]);
});
