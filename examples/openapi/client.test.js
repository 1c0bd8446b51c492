import assert from "node:assert/strict";
import { test } from "node:test";
import { changeReport, listReports, readReport, removeReport, requestReport } from "./client.js";

const {
  SVC_BASE_URL: url,
  SVC_KEY_MAIN: main,
  SVC_KEY_READER: reader,
  SVC_KEY_SECOND: second,
  SVC_KEY_OTHER: other,
  SVC_KEY_UNKNOWN: unknown,
} = process.env;

test("a report is requested once", async () => {
  assert.equal((await requestReport(url, main, 12)).status, "pending");
});

test("a key without the scope is rejected", async () => {
  assert.deepEqual(await requestReport(url, reader, 12), { failed: 403, code: "insufficient_scope" });
});

test("a report is read, listed, changed and removed; another organization sees none", async () => {
  const { id } = await requestReport(url, second, 12);
  assert.equal((await readReport(url, second, id)).id, id);
  assert.ok((await listReports(url, second)).includes(id));
  assert.equal((await changeReport(url, second, id, { reason: "corrected" })).id, id);
  assert.equal((await readReport(url, other, id)).failed, 404);
  assert.deepEqual(await listReports(url, other), []);
  assert.deepEqual(await removeReport(url, second, id), { removed: true });
  assert.ok(!(await listReports(url, second)).includes(id));
});

for (const key of [unknown, "no key", ""]) {
  test(`the key ${JSON.stringify(key?.slice(0, 6))} is rejected`, async () => {
    assert.deepEqual(await requestReport(url, key, 12), { failed: 401, code: "unauthorized" });
  });
}
