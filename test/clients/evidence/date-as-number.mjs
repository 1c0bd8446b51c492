// A client that reads the date in Retry-After of a 429 as a number, and so sends the request again at once.
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { checkFive, me } from "./me.mjs";

async function patient(ref, tries = 3) {
  const { response } = await me(ref);
  const after = response.headers.get("retry-after");
  if (response.status !== 429 || after === null || tries === 1) return { response };
  if (Number(after) > 10) return { response };
  await wait(1000 * Number(after));
  return patient(ref, tries - 1);
}
await checkFive(patient);
// A key that is sent once is not tried.
assert.equal((await patient("ACTIVE")).response.status, 200);
