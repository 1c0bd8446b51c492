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

test("a rejection is made once for its code, and again after one with another code: codes do not add up", () => {
  const response = rejectionWithCode("first");
  expect(JSON.parse(response.body).error.code).toBe("first");
  expect(rejectionWithCode("first")).toBe(response);

  expect(JSON.parse(rejectionWithCode("second").body).error.code).toBe("second");
  const responseAfterOther = rejectionWithCode("first");
  expect(responseAfterOther).toEqual(response);
  expect(responseAfterOther).not.toBe(response);
});
