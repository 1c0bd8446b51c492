// Cancels a consent request. After an unknown result, it reads the request before it tries again.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ask, checkRejections, consent } from "./ask.mjs";

const options = { body: consent, idempotencyKey: randomUUID() };
const { status, body } = await ask("POST", "/consent-requests", options);
assert.equal(status, 201);
const path = `/consent-requests/${body.data.id}`;
const cancel = () => ask("POST", `${path}/cancel`);
const stateOf = async () => (await ask("GET", path)).body.data.status;
const first = await cancel().catch(async () => ((await stateOf()) === "cancelled" ? undefined : cancel()));
if (first !== undefined) assert.equal(first.status, 200);
assert.equal(await stateOf(), "cancelled");
assert.equal((await cancel()).status, 409);
await checkRejections();
