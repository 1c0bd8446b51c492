// A suite whose scenario sets two assumptions, so that no run varies them.
import { checkFive, control } from "./me.mjs";

const assumptions = { rate_limit_code: "slow_down", www_authenticate: false };
await control("POST", "/reset", { scenario: { version: 1, extends: "key-states", assumptions } });
await checkFive();
