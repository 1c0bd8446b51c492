import assert from "node:assert/strict";
import { test } from "node:test";
import { createSandbox } from "svc-sandbox";
import { createDispatcher } from "svc-sandbox/undici";
import { fetch as fetchOfUndici, request, setGlobalDispatcher } from "undici";

const sandbox = createSandbox({ scenario: "bad-day", frozen: true });
const dispatcher = createDispatcher(sandbox);
setGlobalDispatcher(dispatcher);

/** Calls a host that there is not, with the key of a ref, by undici's `request` and `fetch` and by Node's. */
const ask = (ref, options = {}) => {
  const url = "https://api.invalid/v1/relying-party/me";
  const sent = { headers: { "x-api-key": sandbox.secret(ref) }, ...options };
  return [
    request(url, sent).then(({ statusCode, body }) => ({ status: statusCode, text: () => body.text() })),
    fetchOfUndici(url, sent),
    fetch(url, sent),
  ];
};
const failures = (calls) =>
  Promise.all(
    calls.map((call) =>
      call
        .then(async (response) => response.text())
        .then(
          () => assert.fail(),
          (error) => error,
        ),
    ),
  );
const codes = async (calls) => (await failures(calls)).map(({ code, cause }) => code ?? cause?.code);

test("undici and Node's fetch get the sandbox's responses", async () => {
  for (const response of await Promise.all(ask("untouched"))) {
    assert.equal(response.status, 200);
    assert.equal(JSON.parse(await response.text()).data.environment, "test");
  }
  assert.equal(sandbox.requests.total(), 3);
});

test("faults end calls as on a socket", async () => {
  assert.deepEqual(await codes(ask("connection-reset")), Array(3).fill("ECONNRESET"));
  assert.deepEqual(await codes(ask("cut-short")), Array(3).fill("UND_ERR_SOCKET"));
  sandbox.faults.set([{ when: { key: "slow" }, then: { slow: 2000 } }]);
  for (const response of await Promise.all(ask("slow"))) assert.ok(JSON.parse(await response.text()).data);
});

test("a signal ends a hang, which keeps the process alive until then", async () => {
  sandbox.reset();
  const [ofRequest, ...others] = await failures(ask("hanging", { signal: AbortSignal.timeout(100) }));
  // undici 5 and the first versions of 6 name every end by a signal so.
  assert.match(ofRequest.name, /^(?:Timeout|Abort)Error$/);
  assert.deepEqual(
    others.map(({ name }) => name),
    Array(2).fill("TimeoutError"),
  );
});

test("what is not under the base URL goes on", async () => {
  const passed = [];
  const fallback = { dispatch: ({ origin, path }) => passed.push(origin + path) > 0 };
  const own = createDispatcher(sandbox, { baseUrl: "https://api.invalid/base", fallback });
  const headers = { "x-api-key": sandbox.secret("untouched") };
  const { statusCode } = await request("https://api.invalid/base/v1/relying-party/me", {
    dispatcher: own,
    headers,
  });
  assert.equal(statusCode, 200);
  own.dispatch({ origin: "https://other.invalid", path: "/x", method: "GET" }, {});
  assert.deepEqual(passed, ["https://other.invalid/x"]);
});
