// Creates a consent request, and reads it until the farmer has decided. The clock of the sandbox moves in between.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ask, checkRejections, consent } from "./ask.mjs";

const options = { body: consent, idempotencyKey: randomUUID() };
const { status, body } = await ask("POST", "/consent-requests", options);
assert.equal(status, 201);
const { id } = body.data;
let read = await ask("GET", `/consent-requests/${id}`);
for (let left = 5; left > 0 && read.body.data.status === "pending"; left--) {
  const headers = { "content-type": "application/json" };
  const by = { method: "POST", headers, body: '{"by":"1h"}' };
  await fetch(`${process.env.SVC_CONTROL_URL}/clock/advance`, by);
  read = await ask("GET", `/consent-requests/${id}`);
}
assert.deepEqual([read.status, read.body.data.id, read.body.data.status], [200, id, "granted"]);
await checkRejections();
