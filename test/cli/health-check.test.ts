import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../scripts/run-program.js";
import { freePort } from "../support/free-port.js";
import { root } from "../support/pages.js";
import { baseUrl, serve } from "../support/run-cli.js";

test.each([
  ["an empty variable", (port: number) => ({ SVC_SANDBOX_PORT: "", PORT: String(port) })],
  ["its own variable", (port: number) => ({ SVC_SANDBOX_PORT: String(port), PORT: "1" })],
])("the health check of the image asks the server's port with %s", async (_, env) => {
  const url = await baseUrl(serve(["active"]));
  const [, words = ""] =
    /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(readFileSync(join(root, "Dockerfile"), "utf8")) ?? [];
  const [program, ...args] = JSON.parse(words) as [string, ...string[]];
  const { PATH = "" } = process.env;
  const probe = async (port: number) =>
    (await runProgram(program, args, { cwd: root, env: { PATH, ...env(port) } })).code;
  expect(await probe(Number(new URL(url).port))).toBe(0);
  expect(await probe(await freePort())).toBe(1);
});
