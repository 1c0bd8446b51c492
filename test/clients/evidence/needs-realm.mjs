// A client that reads the realm of a challenge, in a suite whose scenario sets an assumption.
import assert from "node:assert/strict";
import { checkFive, control, me } from "./me.mjs";

const assumptions = { rate_limit_code: "slow_down", www_authenticate: true };
await control("POST", "/reset", { scenario: { version: 1, extends: "key-states", assumptions } });
await checkFive(async (ref) => {
  const { response } = await me(ref);
  if (response.status === 401) assert.match(response.headers.get("www-authenticate"), /realm="/);
  return { response };
});
