import { expect, test } from "vitest";
import { unusableStore } from "./redis-connection.js";

// What a Redis at hand does not show; the rest is in test/store/bad-input.slow.test.ts.
test.each([
  ["store_unusable", "it does not speak TLS", { code: "EPROTO", message: "wrong version number" }],
  [
    "store_unavailable",
    'it reports "LOADING Redis is loading"',
    { message: "LOADING Redis is loading. Wait" },
  ],
])("%s: of a Redis, %j", (code, found, error) => {
  const rejection = unusableStore("redis://here", Object.assign(new Error(), error));
  expect(rejection).toMatchObject({ code, message: expect.stringContaining(`redis://here: ${found}`) });
});
