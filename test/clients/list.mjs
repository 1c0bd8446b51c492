// Lists attestations in pages of one.
import assert from "node:assert/strict";
import { ask, checkRejections } from "./ask.mjs";

const ids = [];
for (let offset = 0, total = 1; offset < total; offset++) {
  const { status, body } = await ask("GET", `/attestations?limit=1&offset=${offset}`);
  assert.equal(status, 200);
  ids.push(...body.data.map(({ id }) => id));
  total = body.page.total;
}
assert.equal(new Set(ids).size, 1);
for (const id of ids) assert.equal((await ask("GET", `/attestations/${id}`)).body.data.id, id);
await checkRejections();
