// A correct client that waits for the next minute after a 429, by the time of the response.
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { checkFive, me } from "./me.mjs";

await checkFive();
const { response } = await me("RATE_LIMITED_MINUTE");
assert.equal(response.status, 429);
const now = Date.parse(response.headers.get("date"));
await wait(60_000 - (now % 60_000) + 1000);
assert.equal((await me("RATE_LIMITED_MINUTE")).response.status, 200);
