import assert from "node:assert/strict";
import { test } from "node:test";
import { changeReport, listReports, readReport, removeReport, requestReport } from "./client.js";

const {
  SVC_BASE_URL: url,
  SVC_KEY_MAIN: main,
  SVC_KEY_READER: reader,
  SVC_KEY_SECOND: second,
  SVC_KEY_UNKNOWN: unknown,
} = process.env;

test("a report is requested once", async () => {
  assert.equal((await requestReport(url, main, 12)).status, "pending");
});

test("a key without the scope is rejected", async () => {
  assert.deepEqual(await requestReport(url, reader, 12), { failed: 403, code: "insufficient_scope" });
});

test("a report is read, listed, changed and removed", async () => {
  assert.equal((await readReport(url, second, "r-7")).id, "r-7");
  assert.equal((await listReports(url, second)).length, 1);
  assert.equal((await changeReport(url, second, "r-7", { reason: "corrected" })).id, "r-7");
  assert.deepEqual(await removeReport(url, second, "r-7"), { removed: true });
});

test("an invalid request is rejected", async () => {
  assert.deepEqual(await requestReport(url, second, 99), { failed: 400, code: "bad_request" });
});

for (const key of [unknown, "no key", ""]) {
  test(`the key ${JSON.stringify(key?.slice(0, 6))} is rejected`, async () => {
    assert.deepEqual(await requestReport(url, key, 12), { failed: 401, code: "unauthorized" });
  });
}
