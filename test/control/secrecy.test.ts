import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPrinter } from "../../src/cli/terminal.js";
import { createJsonLog } from "../../src/node/logger.js";
import { served } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { methodsByPath, realPath } from "./calls.js";
import { aKey, careless, sentKeys } from "./careless.js";
import { clientOf, type ServedControl, serveControl } from "./client.js";
import { newKey } from "./writes.js";

const mePath = "/v1/relying-party/me";

/** A sandbox whose responses and log are recorded. */
async function openRecorded(): Promise<{ control: ServedControl; everything: () => string }> {
  const control = await serveControl();
  const said: string[] = [];
  const printer = createPrinter({ write: (line) => said.push(line) }, {});
  const log = createJsonLog((line) => printer.write(line));
  control.sandbox.journal.subscribe((event) => {
    if (event.type === "request") log.event(event);
    else log.note(JSON.stringify(event));
  });
  return {
    control,
    everything: () => [...control.heard, ...said, ...control.defects.map(String)].join("\n"),
  };
}

/** Reads everything; `ref` is a key's. */
async function readAll({ ask }: ServedControl, ref: string): Promise<void> {
  for (const [path, methods] of Object.entries(methodsByPath)) {
    if (!methods.includes("GET")) continue;
    await ask(realPath(path).replace("/keys/active", `/keys/${ref}`));
  }
  await ask(`/requests?key=${ref}`);
  await ask(`/keys/${ref}x`);
  await ask(`/keys/${ref}`, { method: "DELETE" });
}

function occurrences(text: string, part: string): number {
  return text.toLowerCase().split(part.toLowerCase()).length - 1;
}

test("R34 R36 a secret is only in the response that created it", async () => {
  const { control, everything } = await openRecorded();
  const { server, ask } = control;
  const post = async (path: string, json: unknown = {}) =>
    (await ask(path, { method: "POST", json })).body.data;
  const secrets: string[] = [];
  for (let i = 0; i < 3; i++) {
    const made = await post("/keys", newKey);
    const rotated = await post(`/keys/${made.key.ref}/rotate`, { overlap: "0s" });
    for (const { secret } of [made, rotated]) {
      secrets.push(secret);
      await fetch(server.url + mePath, { headers: { "x-api-key": secret } });
    }
    await readAll(control, rotated.key.ref);
    // Rejections about these very keys.
    await post(`/keys/${made.key.ref}/rotate`);
    await post("/keys", { ...newKey, ref: rotated.key.ref });
    await post(`/keys/${rotated.key.ref}/revoke`);
  }
  await ask("/reset", { method: "POST", json: { profile: "typical" } });
  const refs = server.sandbox.keys.list().map(({ ref }) => ref);
  const shown = refs.filter((ref) => !ref.startsWith("ci")).map((ref) => `/keys/${ref}/secret`);
  for (const path of shown) secrets.push((await post(path)).secret);
  for (const key of secrets) await fetch(`${server.url}${mePath}/${key}`, { headers: { "x-api-key": key } });
  secrets.push((await post("/keys/active/rotate")).secret);
  await readAll(control, "active-2");
  await post("/reset");
  await readAll(control, "active");
  const all = everything();
  expect(secrets.length).toBeGreaterThan(15);
  for (const secret of secrets) expect(occurrences(all, secret.slice(secret.indexOf("sbx") + 3))).toBe(1);
});

test("R46 no key that a client sent, at any place, is in a response or log", async () => {
  const { control, everything } = await openRecorded();
  const { server, ask } = control;
  for (const { path, ...asking } of careless()) await ask(path, asking);
  for (const method of ["GET", "POST", "DELETE"]) {
    await fetch(server.url + mePath, { method, headers: { "x-api-key": aKey() } });
    await fetch(`${server.url}${mePath}?api_key=${aKey()}`, { method });
    const twice = encodeURIComponent(aKey().replaceAll("_", "%5F"));
    await fetch(`${server.url}/v1/${aKey()}/${twice}`, { method });
    await fetch(`${server.url}/${aKey()}${mePath}`, { method, headers: { authorization: aKey() } });
  }
  await readAll(control, "active");
  const all = everything();
  expect(sentKeys.length).toBeGreaterThan(60);
  expect(sentKeys.filter((key) => occurrences(all, key) > 0)).toEqual([]);
  // It was recorded: the same requests are there with redacted keys.
  for (const redacted of ["SVC_test_…", "SVC_live_…", "legacysvc_test_…"]) expect(all).toContain(redacted);
});

const rejectedKey = `SVC_live_${"9f8e7d6c5b4a".repeat(3)}`;
const wrongCalls = [
  [`/keys/${rejectedKey}/revoke`, {}],
  [`/keys/${rejectedKey}/rotate`, {}],
  ["/keys", { ...newKey, organization: rejectedKey }],
  ["/keys", { ...newKey, ref: rejectedKey }],
] as const;

test("R46 a state has no part of a rejected call, such as a key in the place of a ref", async () => {
  const state = join(temporaryFolder(), "state.json");
  const server = await served({ state });
  const ask = clientOf(server.url);
  for (const [path, json] of wrongCalls) {
    expect((await ask(path, { method: "POST", json })).status).toBeGreaterThanOrEqual(400);
  }
  expect((await ask("/keys", { method: "POST", json: newKey })).status).toBe(201);
  await server.close(0);
  expect(readFileSync(state, "utf8")).toContain('"ci"');
  expect(readFileSync(state, "utf8")).not.toContain(rejectedKey);
});
