import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.js";
import { createHandlers } from "../../src/integrations/msw.js";
import { mePath } from "../support/send.js";

/** The status of a request to handlers with a base URL; `undefined` if it is not for them. */
async function statusAt(baseUrl: string, url: string): Promise<number | undefined> {
  const sandbox = createSandbox({ scenario: "active" });
  const [handler] = createHandlers(sandbox, { baseUrl });
  const request = new Request(url, { headers: { "x-api-key": sandbox.secret("active") } });
  const result = await handler?.run({ request, requestId: "1" });
  return result?.response?.status;
}

test.each([
  ["https://api.example/bank", "https://API.example/bank", 200],
  ["HTTPS://API.Example/bank/", "https://api.example/bank", 200],
  ["https://api.example:443/bank", "https://api.example/bank", 200],
  ["https://api.example/Bank", "https://api.example/Bank", 200],
  ["https://api.example/ä", "https://api.example/%C3%A4", 200],
  ["https://api.example/a+(b)", "https://api.example/a+(b)", 200],
  ["https://api.example/a/../bank", "https://api.example/bank", 200],
  // Another path is of another service.
  ["https://api.example/bank", "https://api.example/BANK", undefined],
  ["https://api.example/Bank", "https://api.example/bank", undefined],
  ["https://api.example/bank", "https://api.example/banker", undefined],
  ["https://api.example/bank", "https://api.example:8443/bank", undefined],
  ["https://api.example/bank", "http://api.example/bank", undefined],
])("handlers at %s respond to requests under %s: %s", async (baseUrl, base, status) => {
  expect(await statusAt(baseUrl, base + mePath)).toBe(status);
});
