// Creates a consent request without an Idempotency-Key: after an unknown result, it gives up.
import assert from "node:assert/strict";
import { ask, checkRejections, consent } from "./ask.mjs";

const { status, body } = await ask("POST", "/consent-requests", { body: consent });
assert.equal(status, 201);
assert.match(body.data.id, /^consent_/);
assert.equal(body.data.status, "pending");
await checkRejections();
