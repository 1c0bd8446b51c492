import { expect, test } from "svc-sandbox/playwright";

test.use({ sandboxOptions: { scenario: "rotation", seed: 7 } });

const me = async (request, key) =>
  (await request.get("/v1/relying-party/me", { headers: { "x-api-key": key } })).status();

test.beforeAll(({ sharedSandbox }) => {
  expect(sharedSandbox.seed).toBe(7);
});

test.beforeEach(({ sandbox }) => {
  sandbox.clock.advance("1m");
});

for (const title of ["first", "second"]) {
  test(`each test has the sandbox as it was at its start, ${title}`, async ({ sandbox, request, secret }) => {
    expect([sandbox.requests.total(), sandbox.clock.isFrozen()]).toEqual([0, true]);
    expect(await me(request, secret("retiring"))).toBe(200);
    expect(sandbox.requests.list().map(({ pathId }) => pathId)).toEqual(["200.retiring"]);
    sandbox.keys.revoke("retiring");
    expect(await me(request, secret("retiring"))).toBe(401);
  });
}

test("baseURL is the server's, and a wrong ref is rejected", ({ baseURL, server, secret }) => {
  expect(baseURL).toBe(server.url);
  expect(() => secret("retirng")).toThrow(/retiring/);
});
