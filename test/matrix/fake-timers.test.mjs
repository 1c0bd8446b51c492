import assert from "node:assert/strict";
import { test } from "node:test";
import { createSandbox } from "svc-sandbox";
import { startServer } from "svc-sandbox/node";

const path = "/v1/relying-party/me";
const day = 24 * 60 * 60_000;
const key = (environment, rest) => ({ environment, ...rest });
const scenario = {
  version: 1,
  organizations: {
    bank: {
      type: "bank",
      keys: {
        main: key("test", { expires: "7d" }),
        slow: key("test"),
        revoked: key("test", { state: "revoked" }),
        limited: key("test", { limits: { per_minute: 0, per_day: 0 } }),
      },
    },
  },
  faults: [{ when: { key: "slow" }, then: { latency: "5ms", slow: 20_000 } }],
};

// Those of Jest, which knows them by these names; the older ones have no clock.
const fakes = [undefined, { now: 0 }, { legacyFakeTimers: true }];

for (const options of fakes) {
  const title = `while Jest's fake timers (${JSON.stringify(options)}) run,`;
  const inFakeTime = async (work) => {
    jest.useFakeTimers(options);
    try {
      await work();
    } finally {
      jest.useRealTimers();
    }
  };
  const meetAll = async (sandbox, send) => {
    const ask = async (ref) => {
      const response = await send(path, { headers: { "x-api-key": sandbox.secret(ref) } });
      await response.text();
      return response.status;
    };
    for (let i = 0; i < 2; i++) {
      const responses = [await ask("main"), await ask("revoked"), await ask("limited"), await ask("slow")];
      assert.deepEqual(responses, [200, 401, 429, 200]);
    }
    if (options?.legacyFakeTimers) return;
    jest.advanceTimersByTime(7 * day);
    assert.equal(await ask("main"), 401);
  };

  test(`${title} sandbox.fetch responses`, () =>
    inFakeTime(async () => {
      const sandbox = createSandbox({ scenario });
      await meetAll(sandbox, (to, init) => sandbox.fetch(`https://any.example${to}`, init));
    }));

  test(`${title} a server responses, its control plane as well, and closes`, () =>
    inFakeTime(async () => {
      const server = await startServer({ scenario });
      assert.equal((await fetch(`${server.controlUrl}/nothing`)).status, 404);
      await meetAll(server.sandbox, (to, init) => fetch(server.url + to, init));
      await server.close();
    }));
}
