// Creates a consent request with an Idempotency-Key, so that it can be repeated.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ask, checkRejections, consent } from "./ask.mjs";

const idempotencyKey = randomUUID();
const create = () => ask("POST", "/consent-requests", { body: consent, idempotencyKey });
const [one, same] = [await create(), await create()];
assert.deepEqual([one.status, same.status], [201, 201]);
assert.equal(one.body.data.id, same.body.data.id);
await checkRejections();
