import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeHeapSnapshot } from "node:v8";
import { expect, onTestFinished, test } from "vitest";
import { createJsonLog } from "../src/node/log.js";
import { aKey, careless, sentKeys } from "./control/careless.js";
import { type ServedControl, serveControl } from "./control/client.js";
import { description } from "./control/described.js";
import { subscribe } from "./control/subscribe.js";
import { mePath } from "./support/send.js";

/** A world that is listened to in every way there is. */
async function openAndListen(): Promise<{
  control: ServedControl;
  everything: () => Promise<string>;
}> {
  const control = await serveControl();
  const said: string[] = [];
  const log = createJsonLog((line) => said.push(line));
  control.runtime.subscribe((event) => {
    if (event.type === "request") log.request(event.request);
    else log.note(JSON.stringify(event));
  });
  const subscriber = await subscribe(control.server.url);
  return {
    control,
    async everything() {
      // The last of the events has come when one that is made now has come.
      const now = control.server.sandbox.clock.advance(1);
      await subscriber.until((events) => events.some(({ data }) => data.now === now));
      return [...control.heard, ...said, subscriber.text(), ...control.defects.map(String)].join("\n");
    },
  };
}

/** Everything that can be looked at, by the description; `ref` is a key's. */
async function lookAround({ ask }: ServedControl, ref: string, base = ""): Promise<void> {
  for (const [path, verbs] of Object.entries(description.paths)) {
    if (!("get" in verbs) || path === "/__sandbox/events") continue;
    const real = path
      .replace("/__sandbox", "")
      .replace("organizations/{ref}", "organizations/harvest-bank")
      .replace("{ref}", ref);
    await ask(real, { base });
  }
  await ask(`/requests?key=${ref}`, { base });
  await ask(`/keys/${ref}x`, { base });
  await ask(`/keys/${ref}`, { base, method: "DELETE" });
}

function occurrences(text: string, part: string): number {
  return text.toLowerCase().split(part.toLowerCase()).length - 1;
}

test("R34 R36 a secret is in the answer that made it, and nothing brings it back", async () => {
  const { control, everything } = await openAndListen();
  const { server, ask } = control;
  const secrets: string[] = [];
  for (let i = 0; i < 3; i++) {
    const json = {
      organization: "harvest-bank",
      environment: "test",
      name: "CI",
    };
    const made = (await ask("/keys", { method: "POST", json })).body.data;
    const rotated = (
      await ask(`/keys/${made.key.ref}/rotate`, {
        method: "POST",
        json: { overlap_minutes: 0 },
      })
    ).body.data;
    secrets.push(made.secret, rotated.secret);
    for (const secret of [made.secret, rotated.secret]) {
      await fetch(server.url + mePath, { headers: { "x-api-key": secret } });
    }
    await lookAround(control, rotated.key.ref);
    // Refusals of every kind about these very keys.
    await ask(`/keys/${made.key.ref}/rotate`, { method: "POST" });
    await ask("/keys", {
      method: "POST",
      json: { ...json, ref: rotated.key.ref },
    });
    await ask(`/keys/${rotated.key.ref}/revoke`, { method: "POST" });
  }
  await ask("/assumptions", { method: "PUT", json: { profile: "typical" } });
  const made = (await ask("/instances", { method: "POST" })).body.data;
  await lookAround(control, "active", `/i/${made.id}`);
  const inside = (await ask("/keys/active/rotate", { method: "POST", base: `/i/${made.id}` })).body.data;
  secrets.push(inside.secret);
  await lookAround(control, "active-2", `/i/${made.id}`);
  await ask("/reset", { method: "POST" });
  await lookAround(control, "active");

  const all = await everything();
  expect(secrets).toHaveLength(7);
  for (const secret of secrets) {
    expect(secret).toMatch(/^SVC_test_sbx[0-9A-Za-z]{29}$/);
    expect(occurrences(all, secret.slice("SVC_test_sbx".length))).toBe(1);
  }
});

test("R34 the keys that a scenario gives an instance are in the answer that made it, and nowhere else", async () => {
  const { control, everything } = await openAndListen();
  const { ask } = control;
  const { id, keys } = (await ask("/instances", { method: "POST", json: { seed: 99 } })).body.data;
  expect(Object.keys(keys)).toContain("active");
  const base = `/i/${id}`;
  await lookAround(control, "active", base);
  await lookAround(control, "active");
  for (const key of Object.values(keys as Record<string, string>)) {
    await fetch(`${control.server.url}${base}${mePath}`, {
      headers: { "x-api-key": key },
    });
    await fetch(`${control.server.url}${mePath}/${key}`, {
      headers: { "x-api-key": key },
    });
  }
  await ask("/reset", { method: "POST", base });
  await lookAround(control, "active", base);
  const all = await everything();
  for (const key of Object.values(keys as Record<string, string>)) {
    expect(occurrences(all, key.slice(key.indexOf("sbx") + 3))).toBe(1);
  }
});

test("R46 no key that a client sent is in anything that is said, wherever the key stood", async () => {
  const { control, everything } = await openAndListen();
  const { server, ask } = control;
  for (const { path, ...asking } of careless()) await ask(path, asking);
  for (const method of ["GET", "POST", "DELETE"]) {
    await fetch(server.url + mePath, {
      method,
      headers: { "x-api-key": aKey() },
    });
    await fetch(`${server.url}${mePath}?api_key=${aKey()}`, { method });
    await fetch(`${server.url}/v1/${aKey()}/${encodeURIComponent(aKey().replaceAll("_", "%5F"))}`, {
      method,
    });
    await fetch(`${server.url}/i/${aKey()}${mePath}`, {
      method,
      headers: { authorization: aKey() },
    });
  }
  await subscribe(server.url, { from: aKey() });
  await lookAround(control, "active");
  const all = await everything();
  expect(sentKeys.length).toBeGreaterThan(90);
  expect(sentKeys.filter((key) => occurrences(all, key) > 0)).toEqual([]);
  // It was listened to: the very requests are there, with the keys cut short.
  expect(all).toContain("SVC_test_…");
  expect(all).toContain("SVC_live_…");
  expect(all).toContain("legacysvc_test_…");
});

test("R35 the heap of the server holds no key that was made or rotated over HTTP", async () => {
  const control = await serveControl();
  const bytes = [
    await makeAndForget(control, "/keys", '{"organization":"harvest-bank","environment":"test","name":"CI"}'),
    await makeAndForget(control, "/keys/active/rotate", "{}"),
  ];
  // Something else is said on another connection, as there always is.
  for (const path of ["/state", "/keys/nothing", "/requests"]) await control.ask(path);
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-heap-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const heap = readFileSync(writeHeapSnapshot(join(folder, "heap.heapsnapshot")), "latin1");
  const { registry } = control.runtime.world();
  expect(heap).toContain(registry.key("ci").key.sha256);
  expect(heap).toContain(registry.key("active-2").key.sha256);
  for (const code of bytes) {
    expect(code).toHaveLength(29);
    expect(heap.includes(Buffer.from(code).reverse().toString("latin1"))).toBe(false);
  }
});

// Reads the answer as bytes, which are not in the heap, and keeps the random part of the secret backwards.
function makeAndForget({ server }: ServedControl, path: string, body: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      const answer = Buffer.concat(chunks);
      const start = answer.indexOf('"secret":"SVC_test_sbx') + '"secret":"SVC_test_sbx'.length;
      resolve(Buffer.from(answer.subarray(start, start + 29)).reverse());
      for (const chunk of chunks) chunk.fill(0);
    });
    socket.end(
      `POST /__sandbox${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
}
