// A suite that sets the profile in its setup, and a client that compares the whole Content-Type.
import assert from "node:assert/strict";
import { checkFive, control, me } from "./me.mjs";

await control("POST", "/reset", { profile: "minimal" });
await checkFive(async (ref) => {
  const { response } = await me(ref);
  assert.equal(response.headers.get("content-type"), "application/json");
  return { response };
});
