import { expect, test } from "vitest";
import { asked } from "../../test/support/send.js";
import { startInNode } from "../node/platform.js";
import { secretToSend } from "../sandbox/secrets.js";
import { handle } from "./handle.js";

/** The response of a sandbox with this code of a 429 to a request over its limit. */
function rejectionWithCode(code: string) {
  const busy = { environment: "test", limits: { per_minute: 0, per_day: 0 } } as const;
  const sandbox = startInNode({
    scenario: {
      version: 1,
      assumptions: { rate_limit_code: code },
      organizations: { bank: { type: "bank", keys: { busy } } },
    },
    name: "busy",
  });
  return handle(sandbox, asked({ apiKey: secretToSend(sandbox, "busy") })).response;
}

test("a rejection has the code of its own sandbox, also after one of another sandbox", () => {
  const codes = ["first", "second", "first"];
  const found = codes.map((code) => JSON.parse(rejectionWithCode(code).body).error.code);
  expect(found).toEqual(codes);
});
