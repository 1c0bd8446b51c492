// A suite that sets two assumptions, so that no run varies them.
import { checkFive, control } from "./me.mjs";

await control("PUT", "/assumptions", { rate_limit_code: "slow_down", www_authenticate: false });
await checkFive();
