import { expect, test } from "svc-sandbox/vitest";

test.override({ sandboxOptions: { scenario: "rotation", seed: 7 } });

const me = async (server, key) =>
  (await fetch(`${server.url}/v1/relying-party/me`, { headers: { "x-api-key": key } })).status;
const urls = [];

test.beforeAll(({ sharedSandbox }) => {
  expect(sharedSandbox.seed).toBe(7);
});

test.beforeEach(({ sandbox }) => {
  sandbox.clock.advance("1m");
});

test.for(["first", "second"])(
  "each test has the sandbox as it was at its start, %s",
  async (_, { sandbox, server, secret }) => {
    urls.push(server.url);
    expect([sandbox.requests.total(), sandbox.clock.isFrozen()]).toEqual([0, true]);
    expect(await me(server, secret("retiring"))).toBe(200);
    expect(sandbox.requests.list().map(({ outcome }) => outcome)).toEqual(["200.retiring"]);
    sandbox.keys.revoke("retiring");
    expect(await me(server, secret("retiring"))).toBe(401);
  },
);

test("the server is one for the file, and a wrong ref is rejected", ({ secret }) => {
  expect([urls.length, new Set(urls).size]).toEqual([2, 1]);
  expect(() => secret("retirng")).toThrow(/retiring/);
});
