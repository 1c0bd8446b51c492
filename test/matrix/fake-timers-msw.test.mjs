import assert from "node:assert/strict";
import https from "node:https";
import { test } from "node:test";
import { setupServer } from "msw/node";
import { createSandbox } from "svc-sandbox";
import { createHandlers } from "svc-sandbox/msw";

const url = "https://api.example/v1/relying-party/me";
const scenario = {
  version: 1,
  organizations: { bank: { type: "bank", keys: { main: { environment: "test" } } } },
  faults: [{ then: { latency: "5ms", slow: 20_000 } }],
};

// Those of Jest, which knows them by these names.
for (const options of [undefined, { now: 0 }, { legacyFakeTimers: true }]) {
  test(`while Jest's fake timers (${JSON.stringify(options)}) run, msw responds from the sandbox`, async () => {
    const sandbox = createSandbox({ scenario });
    const server = setupServer(...createHandlers(sandbox));
    server.listen();
    jest.useFakeTimers(options);
    try {
      const response = await fetch(url, { headers: { "x-api-key": sandbox.secret("main") } });
      assert.equal((await response.json()).data.usage.today, 1);
      const status = await new Promise((resolve, reject) => {
        https.get(url, (one) => one.resume().on("end", () => resolve(one.statusCode))).on("error", reject);
      });
      assert.equal(status, 401);
    } finally {
      jest.useRealTimers();
      server.close();
    }
  });
}
