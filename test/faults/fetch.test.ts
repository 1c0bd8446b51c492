import { setupServer } from "msw/node";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { createSandbox, type Fault, type Sandbox } from "../../src/index.js";
import { createHandlers } from "../../src/integrations/msw.js";
import { mePath } from "../support/doors.js";
import { expressDoor } from "../support/express-door.js";
import { scenarioWith } from "../support/faulty.js";

const base = "http://api.example";
const faultyScenario = (then: Fault["then"]) => scenarioWith([{ when: { key: "main" }, then }]);
const headersOf = (sandbox: Sandbox, key = "main") => ({ "x-api-key": sandbox.secret(key) });

function reachByMsw(sandbox: Sandbox): typeof fetch {
  const server = setupServer(...createHandlers(sandbox, { baseUrl: base }));
  server.listen({ onUnhandledRequest: "error" });
  onTestFinished(() => server.close());
  return fetch;
}

type Reach = (input: string, init?: RequestInit) => Promise<Response>;
const fetches: Readonly<Record<string, (sandbox: Sandbox) => Reach>> = {
  "sandbox.fetch": (sandbox) => sandbox.fetch as Reach,
  // Last: its server responses the fetch of Node until the test ends.
  msw: reachByMsw,
};

const failureOf = (promise: Promise<unknown>): Promise<Error & { cause?: unknown }> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );

/** How a call ended in a few words; `silence` when it had not ended at the end of a later one. */
function ending(
  call: Promise<{ status: number; text: () => Promise<string> }>,
  later?: (() => Promise<unknown>) | undefined,
): Promise<string> {
  const told = call.then(
    async (response) => {
      const { status } = response;
      const body = await response.text().catch(() => "cut");
      if (body === "cut" || body === "") return `${status} cut`;
      if (body.startsWith("<html>")) return `${status} page`;
      try {
        return `${status} ${JSON.parse(body).error?.code ?? "context"}`;
      } catch {
        return `${status} no JSON`;
      }
    },
    (error) => error.name,
  );
  return later === undefined ? told : Promise.race([told, later().then(() => "silence")]);
}

async function endingOverExpress(sandbox: Sandbox, then: Fault["then"]): Promise<string> {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const door = await expressDoor.open(faultyScenario(then), { frozen: false });
  const other = async () => expect((await door.me({ ref: "other" })).status).toBe(200);
  const sent = door.send({ headers: headersOf(sandbox) });
  const ended = await ending(
    sent.then(({ status, body }) => ({ status, text: async () => body })),
    then.hang ? other : undefined,
  );
  await other();
  return ended;
}

// The endings by sandbox.fetch and by msw; in a partner's Express app.
test.each<readonly [Fault["then"], fetched: string, overExpress: string]>([
  [{ latency: "20ms" }, "200 context", "200 context"],
  [{ slow: 2000 }, "200 context", "200 context"],
  [{ status: 503 }, "503 service_unavailable", "503 service_unavailable"],
  [{ status: 502, body: "html" }, "502 page", "502 page"],
  [{ malformed: true }, "200 no JSON", "200 no JSON"],
  [{ truncate: true }, "200 cut", "Error"],
  [{ hang: true }, "silence", "silence"],
  [{ reset: true }, "TypeError", "500 no JSON"],
])("R24 %j ends a call as %s, and counts only what comes whole", async (then, fetched, overExpress) => {
  const counts = fetched === "200 context" ? 1 : 0;
  for (const reach of Object.values(fetches)) {
    const sandbox = createSandbox({ scenario: faultyScenario(then) });
    const call = reach(sandbox);
    const callAs = (key: string) => call(base + mePath, { headers: headersOf(sandbox, key) });
    expect(await ending(callAs("main"), then.hang ? () => callAs("other") : undefined)).toBe(fetched);
    expect(sandbox.keys.get("main").usage.today).toBe(counts);
  }
  const sandbox = createSandbox({ scenario: faultyScenario(then) });
  expect(await endingOverExpress(sandbox, then)).toBe(overExpress);
});

afterEach(() => void vi.useRealTimers());

test.each<Fault["then"]>([{ hang: true }, { latency: "1h" }, { slow: 10 }])(
  "by msw, %j ends with its request's signal",
  async (then) => {
    const sandbox = createSandbox({ scenario: faultyScenario(then) });
    const abort = new AbortController();
    const sent = reachByMsw(sandbox)(base + mePath, { signal: abort.signal, headers: headersOf(sandbox) });
    const failure = failureOf("slow" in then ? (await sent).text() : sent);
    abort.abort(new Error("enough"));
    expect((await failure).message).toBe("enough");
  },
);

test("a slow response without a body has none, and no media type", async () => {
  const endpoints = {
    gone: { method: "DELETE", path: "/gone", status: 204 },
    none: { path: "/none" },
  } as const;
  const sandbox = createSandbox({ scenario: { ...faultyScenario({ slow: 10 }), endpoints } });
  for (const [method, path] of [
    ["DELETE", "/gone"],
    ["GET", "/none"],
  ] as const) {
    const response = await sandbox.fetch(base + path, { method, headers: headersOf(sandbox) });
    expect([response.body, response.headers.get("content-type")]).toEqual([null, null]);
  }
});

test("sandbox.fetch fails as Node's own fetch does when the connection is reset", async () => {
  const sandbox = createSandbox({ scenario: faultyScenario({ reset: true }) });
  const error = await failureOf(sandbox.fetch(base + mePath, { headers: headersOf(sandbox) }));
  expect(error).toMatchObject({ name: "TypeError", message: "fetch failed", cause: { code: "ECONNRESET" } });
});

test("the sandbox's fetch with a host header and without credentials gets a fault as any other fetch", async () => {
  for (const init of [{}, { headers: { host: "x" }, credentials: "omit" }] as const) {
    const send = (then: Fault["then"]) => {
      const sandbox = createSandbox({ scenario: faultyScenario(then) });
      const headers = { ...headersOf(sandbox), ...("headers" in init ? init.headers : {}) };
      return sandbox.fetch(base + mePath, { ...init, headers });
    };
    await expect(send({ reset: true })).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
    const cut = await send({ truncate: true });
    await expect(cut.text()).rejects.toThrow("terminated");
  }
});
