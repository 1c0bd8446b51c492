import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../scripts/run-program.js";
import { documentOf } from "../support/documents.js";
import { exchange } from "../support/exchange.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// What a document names is shown in lines that people paste, and in logs that machines read.

const secret = "SVC_test_sbxWithHostilePaths00000000000";
const organizations = {
  bank: { type: "bank", keys: { main: { environment: "test", secret } } },
} as const;
const ok = { responses: { 200: { description: "" } } };
const serving = async (path: string, more: object = {}) => {
  const document = documentOf({ [path]: { get: { operationId: "a", ...ok, ...more } } });
  return served({ scenario: { version: 1, organizations, openapi: { text: JSON.stringify(document) } } });
};

const paths = [
  ..."/x$(touch PWNED)|/x`touch PWNED`|/x'$(touch PWNED)'|/x\"$(touch PWNED)\"|/x;touch PWNED|/x&touch PWNED|/x>PWNED|/x<PWNED|/$SVC_KEY_MAIN|/x!!|/x\\ y|/x\\'|/~|/*".split(
    "|",
  ),
  "/x|touch PWNED",
  "/x\ntouch PWNED",
  "/x\r\n::error::forged",
  "/x\u2028::error::",
  "/\u001B[31mx",
  "/\u202Ex",
  "/größe",
  "/x^y",
  "/x[1]",
  "/x%20y",
  "/gr%c3%b6%C3%9Fe",
  "/\u{1F41D}/(a)='b',c",
  "/{a$b}/$(touch PWNED)",
];

/** The status of a request with exactly this target. */
const statusAt = async (url: string, path: string) =>
  (await exchange(url, { path, headers: { "x-api-key": secret } })).status;

test.each(paths)("a client reaches %j, and its curl line runs curl and nothing else", async (path) => {
  const server = await serving(path);
  const filled = path.replace("{a$b}", "1");
  // As fetch and as encodeURI encode it.
  const targets = [
    new URL(server.url + filled.replaceAll("\\", "%5C")).pathname,
    encodeURI(decodeURI(filled)),
  ];
  // A URL drops line breaks.
  for (const target of /[\r\n]/.test(path) ? targets.slice(1) : targets)
    expect([target, await statusAt(server.url, target)]).toEqual([target, 200]);
  server.sandbox.requests.clear();
  const hint = server.sandbox.report().paths.find(({ pathId }) => pathId === "200.a")?.howToCover;
  const cwd = temporaryFolder({ "bin/curl": '#!/bin/sh\nprintf "%s\\n" "$@"\n' });
  const script = `chmod +x bin/curl; set -H; ${hint?.curl}`;
  const env = {
    PATH: `${join(cwd, "bin")}:${process.env.PATH}`,
    SVC_BASE_URL: server.url,
    SVC_KEY_MAIN: secret,
  };
  const { code, stdout } = await runProgram("bash", ["-c", script], { cwd, env });
  const words = stdout.trimEnd().split("\n");
  expect([code, readdirSync(cwd)]).toEqual([0, ["bin"]]);
  expect(words.slice(0, 2)).toEqual(["-H", `x-api-key: ${secret}`]);
  expect(words.at(-1)).toMatch(/^http:\/\/[!#-;=?-[\]_a-z~]+$/);
  expect(await statusAt(server.url, (words.at(-1) as string).slice(server.url.length))).toBe(200);
});
