import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Shown } from "../../src/dashboard/control/responses.js";
import { clientCode } from "../../src/dashboard/views/requests/client-code.js";
import type { Scenario } from "../../src/index.js";
import { clientEnvironment } from "../../src/node/client-variables.js";
import { runDue } from "../../src/sandbox/operations/operations.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { serveControl } from "../control/client.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const run = promisify(execFile);
const mePath = "/v1/relying-party/me";
/** The requests of the page, and where they end: the code has to bring that about again. */
const requests: readonly (readonly [method: string, path: string, key: string])[] = [
  ...["active", "revoked", "wrong-scope", "rate-limited", "none", "malformed", "unknown"].map(
    (key) => ["GET", mePath, key] as const,
  ),
  ...["legacy", "retiring", "replacement", "live", "legacy-live"].map((key) => ["GET", mePath, key] as const),
  ["DELETE", mePath, "active"],
  ["HEAD", mePath, "revoked"],
  ["GET", `/it's "$HOME" \`id\`;{a,b}[1-2]/ü%20\\n<b>\${x}%`, "none"],
  ["POST", "/a'b", "active"],
];

const faults: Scenario["faults"] = [
  { when: { key: "legacy" }, then: { status: 503 } },
  { when: { key: "retiring" }, then: { reset: true } },
  { when: { key: "replacement" }, then: { hang: true } },
  { when: { key: "live" }, then: { truncate: true } },
  { when: { key: "legacy-live" }, then: { malformed: true } },
];

test("a request copied as curl or fetch ends where it did, and holds no key", async () => {
  const { ask, server, sandbox } = await serveControl({
    scenario: { ...bundledScenarios["key-states"], faults },
  });
  for (const [method, path, key] of requests) {
    const { status, body } = await ask("/send", {
      method: "POST",
      json: { method, path: encoded(path), key },
    });
    expect(status, JSON.stringify(body)).toBe(200);
  }
  const journal = (await ask("/requests")).body.data as Shown<"Request">[];
  expect(journal).toHaveLength(requests.length);
  const variables = clientEnvironment(runDue(sandbox), server);
  const env = { ...process.env, ...variables };
  const folder = temporaryFolder();
  const files: Record<string, string[]> = { curl: [], fetch: [] };
  for (const [index, request] of journal.entries()) {
    for (const [name, code] of Object.entries(clientCode(request))) {
      for (const [variable, value] of Object.entries(variables)) expect(code, variable).not.toContain(value);
      const file = join(folder, `request-${index}.${name === "curl" ? "sh" : "mjs"}`);
      writeFileSync(file, code);
      files[name]?.push(file);
    }
  }
  // Of a fault that leaves no response, these two say so with their exit code.
  const runAll = (hangs: boolean) =>
    journal.flatMap(({ path_id: pathId }, index) =>
      (pathId === "fault.hang") !== hangs
        ? []
        : [
            run("sh", [files.curl?.[index] as string], { env }),
            run(process.execPath, [files.fetch?.[index] as string], { env }),
          ].map((ran) => ran.catch((error) => expect(pathId, `${error}`).toMatch(/^fault\./))),
    );
  await Promise.all(runAll(false));
  // Their clients give up after some seconds, in which so many processes may not have come to their request.
  await Promise.all(runAll(true));
  const since = ((await ask("/requests")).body.data as Shown<"Request">[]).slice(journal.length);
  // What cannot stand in a URL is encoded by the code.
  const inUrl = (path: string) => path.replace(/["<>\\^`{|}]/g, encodeURIComponent);
  const facts = ({ method, path, path_id, key }: Shown<"Request">) =>
    `${method} ${inUrl(path)} ${path_id} ${key}`;
  expect(since.map(facts).sort()).toEqual([...journal, ...journal].map(facts).sort());
});

/** A path as HTTP clients send it: only what cannot stand in a request line is encoded. */
function encoded(path: string): string {
  return path.replace(/[^\x21-\x7e]/g, encodeURIComponent);
}
