import { readFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { setPackageReader } from "../../src/node/package-files.js";
import { exchange } from "../support/exchange.js";
import { serveControl } from "./client.js";

test("a machine at its limit gets 503, and the server reports why", async () => {
  const { ask, defects } = await serveControl();
  setPackageReader(() => Promise.reject(Object.assign(new Error("EMFILE"), { code: "EMFILE" })));
  onTestFinished(() => setPackageReader((path) => readFile(path)));
  const { status, body } = await ask("/");
  expect([status, body.error.code]).toEqual([503, "machine_exhausted"]);
  expect(body.error.message).toContain("EMFILE");
  expect(defects.splice(0)).toMatchObject([{ code: "EMFILE" }]);
});

test("a file of the dashboard is read and unpacked once, for all requests of its encoding", async () => {
  const { ask, server } = await serveControl();
  const [, file] = /src="\.\/(assets\/[^"]+)"/.exec((await ask("/")).text) ?? [];
  const reads: string[] = [];
  setPackageReader((path) => {
    reads.push(path);
    return readFile(path);
  });
  onTestFinished(() => setPackageReader((path) => readFile(path)));
  const get = () => exchange(server.url, { path: `/__sandbox/${file}` });
  const responses = await Promise.all([get(), get(), get()]);
  expect(new Set(responses.map(({ bytes }) => String(bytes))).size).toBe(1);
  expect(reads.length).toBeLessThanOrEqual(1);
});

test("no path leads out of its folder, and a foreign host gets nothing", async () => {
  const { server } = await serveControl();
  for (const path of [
    "/../dashboard/index.html",
    "/..%2fdashboard%2findex.html",
    "/%2e%2e/%2e%2e/package.json",
    "/..\\package.json",
    "//etc/passwd",
    "/index.html%00",
    "/gone.html",
    "/package.json",
    "/index",
  ]) {
    const { status } = await exchange(server.url, { path: `/__sandbox/assets${path}` });
    expect([path, status]).toEqual([path, 404]);
  }
  const { status } = await exchange(server.url, { path: "/__sandbox/", headers: { host: "evil.example" } });
  expect(status).toBe(403);
  const head = await exchange(server.url, { path: "/__sandbox/", method: "HEAD" });
  expect([head.status, head.bytes.length]).toEqual([200, 0]);
});
