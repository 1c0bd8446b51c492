import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { ShownRequest } from "../../src/dashboard/control/responses.js";
import type { Scenario } from "../../src/index.js";
import { keyVariable } from "../../src/rules/keys/key-text.js";
import { bundledScenarios } from "../../src/scenario/bundled.js";
import { mePath } from "../support/send.js";
import { serveControl } from "./client.js";

const run = promisify(execFile);

const keys = ["active", "revoked", "wrong-scope", "rate-limited", "none", "malformed", "unknown", "legacy"];
const faulty = ["retiring", "replacement", "live", "legacy-live"];

/** Requests: the command of each must end where it did. */
const requests: readonly (readonly [method: string, path: string, key: string])[] = [
  ...[...keys, ...faulty].map((key) => ["GET", mePath, key] as const),
  ["DELETE", mePath, "active"],
  ["HEAD", mePath, "revoked"],
  ["GET", "/v1/organizations", "none"],
  ["POST", "/v1/farmers", "active"],
];

const faults: Scenario["faults"] = [
  { when: { key: "retiring" }, then: { reset: true } },
  { when: { key: "replacement" }, then: { hang: true } },
  { when: { key: "live" }, then: { truncate: true } },
  { when: { key: "legacy-live" }, then: { status: 503 } },
];

test("the command of a request ends where the request did", async () => {
  const scenario = { ...bundledScenarios["key-states"], faults };
  const { ask, server } = await serveControl({ scenario });
  for (const [method, path, key] of requests) {
    await ask("/send", { method: "POST", json: { method, path, key } });
  }
  const journal = (await ask("/requests")).body.data as ShownRequest[];
  expect(journal).toHaveLength(requests.length);
  for (const { id, outcome } of journal) {
    const { curl, repeat } = (await ask(`/requests/${id}`)).body.data;
    expect(curl, `${id} ${outcome}`).not.toBeNull();
    const secret =
      repeat.key === "none"
        ? ""
        : (await ask(`/keys/${repeat.key}/secret`, { method: "POST" })).body.data.secret;
    const env = { PATH: process.env.PATH, SVC_BASE_URL: server.url, [keyVariable(repeat.key)]: secret };
    // Of a fault that leaves no response, curl says so with its exit code.
    await run("sh", ["-c", curl], { env }).catch((error) => expect(outcome, `${error}`).toMatch(/^fault\./));
  }
  const since = ((await ask("/requests")).body.data as ShownRequest[]).slice(journal.length);
  const facts = ({ method, path, outcome, key }: ShownRequest) => `${method} ${path} ${outcome} ${key}`;
  expect(since.map(facts)).toEqual(journal.map(facts));
});
