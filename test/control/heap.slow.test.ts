import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { writeHeapSnapshot } from "node:v8";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";
import { type ServedControl, serveControl } from "./client.js";
import { newKey } from "./writes.js";

test("R35 the heap of the server contains no key that was created or rotated over HTTP, only its hash", async () => {
  const control = await serveControl();
  // The first call loads the control plane, and a client that has closed its half would not wait for that.
  await control.ask("/health");
  const created = await makeAndForget(control, "/keys", JSON.stringify(newKey));
  const rotated = await makeAndForget(control, "/keys/active/rotate", "{}");
  // Other responses replace what the last one has left in buffers.
  for (const path of ["/state", "/keys/nothing", "/requests"]) await control.ask(path);
  const heap = readFileSync(writeHeapSnapshot(join(temporaryFolder(), "heap.heapsnapshot")), "latin1");
  const { registry } = control.sandbox;
  for (const ref of ["ci", "active-2"]) expect(heap).toContain(registry.key(ref).key.sha256);
  for (const code of [created, rotated]) {
    expect(code).toHaveLength(29);
    expect(heap.includes(Buffer.from(code).reverse().toString("latin1"))).toBe(false);
  }
});

// Reads the response as bytes, which are not in the heap, and keeps the random part of the secret reversed.
function makeAndForget({ server }: ServedControl, path: string, body: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      const response = Buffer.concat(chunks);
      const start = response.indexOf('"secret":"SVC_test_sbx') + '"secret":"SVC_test_sbx'.length;
      resolve(Buffer.from(response.subarray(start, start + 29)).reverse());
      for (const chunk of chunks) chunk.fill(0);
    });
    const headers = `Host: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    socket.end(`POST /__sandbox${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`);
  });
}
