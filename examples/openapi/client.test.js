import assert from "node:assert/strict";
import { test } from "node:test";
import { readReport, requestReport } from "./client.js";

const {
  SVC_BASE_URL: url,
  SVC_KEY_MAIN: main,
  SVC_KEY_READER: reader,
  SVC_KEY_UNKNOWN: unknown,
} = process.env;

test("a report is requested once", async () => {
  assert.equal((await requestReport(url, main, 12)).status, "pending");
});

test("a key without the scope is rejected", async () => {
  assert.deepEqual(await requestReport(url, reader, 12), { failed: 403, code: "insufficient_scope" });
});

test("a report is read", async () => {
  assert.equal(typeof (await readReport(url, reader, "r-1")).pages, "number");
});

for (const key of [unknown, "no key", ""]) {
  test(`the key ${JSON.stringify(key?.slice(0, 6))} is rejected`, async () => {
    assert.deepEqual(await requestReport(url, key, 12), { failed: 401, code: "unauthorized" });
  });
}
