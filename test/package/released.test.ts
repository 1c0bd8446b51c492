import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/pages.js";
import { runCommand } from "../support/running-command.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// A released endpoint is three files: its own, its row, and the parts of the docs that `npm run docs:update` writes.

const endpoint = `import { count, mapping } from "../../spec/schema/shape.js";
import type { Endpoint } from "../endpoint.js";

export const keyLimits: Endpoint = {
  method: "GET",
  path: "/v1/relying-party/key-limits",
  operationId: "getKeyLimits",
  scope: "attestations:read",
  summary: "Limits of the key",
  description: "The limits of the calling key.",
  responseName: "KeyLimits",
  responseShape: mapping({ data: mapping({ per_minute: count() }) }),
  responseExample: { data: { per_minute: 60 } },
  respond: ({ key }) => {
    const text = JSON.stringify({ data: { per_minute: key.limits.perMinute } });
    return { text, bytes: text.length };
  },
};
`;

test("no test of coverage, checks or formats fails when an endpoint with a scope that keys have is released", async () => {
  const cwd = temporaryFolder();
  const ls = (...argv: string[]) =>
    execFileSync("git", ["ls-files", ...argv], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })
      .trim()
      .split("\n");
  for (const file of ls("--cached", "--others", "--exclude-standard"))
    cpSync(join(root, file), join(cwd, file));
  for (const name of ["node_modules", "dist"]) symlinkSync(join(root, name), join(cwd, name));
  const routes = join(cwd, "src/api/routes.ts");
  writeFileSync(join(dirname(routes), "endpoints/key-limits.ts"), endpoint);
  const row = (text: string) =>
    text
      .replace("= [me]", "= [me, keyLimits]")
      .replace(/^import \{ me \}/m, 'import { keyLimits } from "./endpoints/key-limits.js";\n$&');
  writeFileSync(routes, row(readFileSync(routes, "utf8")));
  const about = [
    "test/cli/agents",
    "test/check/requests",
    "test/openapi/check",
    "test/report/formats",
    "test/report/client-behavior",
  ];
  const { code, stdout } = await runCommand(
    `node_modules/.bin/vitest run --reporter dot --project 'quick*' ${about.join(" ")}`,
    { cwd },
  ).ended;
  expect([code, stdout.match(/FAIL .*/g)]).toEqual([0, null]);
});
