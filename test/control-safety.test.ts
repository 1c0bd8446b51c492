import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { guardControl } from "../src/node/control/guard.js";
import {
  type Asking,
  type ControlAnswer,
  expectUnchanged,
  type ServedControl,
  serveControl,
} from "./control/client.js";
import { writesFor } from "./control/writes.js";

interface Call extends Asking {
  readonly path: string;
}

/** Reads and writes of every kind, of the server and of an instance. */
async function openWithCalls(control: ServedControl, headers = {}): Promise<readonly Call[]> {
  const { id } = (await control.ask("/instances", { method: "POST", headers })).body.data;
  const reads = ["/", "/state", "/keys/active", "/events", "/openapi.json", "/nothing"].map((path) => ({
    path,
  }));
  const inside = writesFor(id).filter(({ path }) => !path.startsWith("/instances"));
  return [
    ...reads,
    ...writesFor(id),
    { path: "/keys", method: "OPTIONS" },
    { path: "/keys", method: "HEAD" },
    ...[...reads, ...inside].map((call) => ({ ...call, base: `/i/${id}` })),
  ];
}

async function askAll(
  control: ServedControl,
  calls: readonly Call[],
  headers: object,
): Promise<ControlAnswer[]> {
  const answers: ControlAnswer[] = [];
  for (const { path, ...call } of calls) {
    answers.push(
      await control.ask(path, {
        ...call,
        headers: { ...call.headers, ...headers },
      }),
    );
  }
  return answers;
}

const statusOf = ({ status }: ControlAnswer) => status;
const codeOf = ({ body }: ControlAnswer) => body?.error?.code;

describe("on this machine alone", () => {
  test.each([
    "evil.example",
    "evil.example:4747",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evillocalhost",
    "127.0.0.1@evil.example",
    "192.168.0.1",
    "10.0.0.1:80",
    "[fe80::1]",
    "0.0.0.0",
    "a b[",
  ])("a request to the host %s, as of a name that was bound anew, is refused everything", async (host) => {
    const control = await serveControl();
    const calls = await openWithCalls(control);
    const answers = await expectUnchanged(control, () => askAll(control, calls, { host }));
    expect(new Set(answers.map(statusOf))).toEqual(new Set([403]));
    expect(new Set(answers.map(codeOf))).toEqual(new Set(["foreign_host", undefined]));
  });

  test.each([
    { origin: "http://evil.example" },
    { origin: "https://127.0.0.1.evil.example" },
    { origin: "null" },
    { origin: "" },
    { origin: "http://127.0.0.1:1" },
    { origin: "http://localhost" },
    { origin: "file://" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    {
      "sec-fetch-site": "cross-site",
      origin: undefined,
      "sec-fetch-mode": "navigate",
    },
  ])("a page of another origin (%o) is refused everything", async (sent) => {
    const control = await serveControl();
    const calls = await openWithCalls(control);
    const headers = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
    const answers = await expectUnchanged(control, () => askAll(control, calls, headers));
    expect(new Set(answers.map(statusOf))).toEqual(new Set([403]));
    expect(new Set(answers.map(codeOf))).toEqual(new Set(["foreign_origin", undefined]));
  });

  test("this machine's own names, and the server's own page, are answered", async () => {
    const { server, ask } = await serveControl();
    const { host, port } = new URL(server.url);
    for (const headers of [
      { host: "localhost" },
      { host: `localhost:${port}`, origin: `http://localhost:${port}` },
      { host: "LOCALHOST:1" },
      { host: "svc.localhost:1" },
      { host: "127.0.0.1:1" },
      { host: "127.1.2.3" },
      { host: "[::1]:1" },
      { origin: `http://${host}`, "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" },
    ]) {
      expect([headers, (await ask("/state", { headers })).status]).toEqual([headers, 200]);
      expect((await ask("/reset", { method: "POST", headers })).status).toBe(200);
    }
  });

  test("what a page may send without asking is refused even where a browser says nothing of its origin", async () => {
    const control = await serveControl();
    const writes = (await openWithCalls(control)).filter(({ json }) => json !== undefined);
    for (const [type, bytes] of [
      ["text/plain", '{"status":"inactive"}'],
      ["text/plain;charset=UTF-8", '{"name":"rotation"}'],
      ["application/x-www-form-urlencoded", "status=inactive&name=rotation"],
      ["application/x-www-form-urlencoded", ""],
      [
        "multipart/form-data; boundary=x",
        '--x\r\ncontent-disposition: form-data; name="by"\r\n\r\n1m\r\n--x--\r\n',
      ],
    ] as const) {
      const sent = writes.map(({ json: _, ...call }) => ({ ...call, bytes }));
      const answers = await expectUnchanged(control, () => askAll(control, sent, { "content-type": type }));
      expect(new Set(answers.map(statusOf))).toEqual(new Set([415]));
    }
  });

  test("a browser that asks beforehand is given no permission, from whichever page", async () => {
    const { server, ask } = await serveControl();
    for (const origin of ["http://evil.example", new URL(server.url).origin]) {
      const { status, headers } = await ask("/keys", {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(Object.keys(headers).filter((name) => /^access-control/.test(name))).toEqual([]);
    }
  });
});

describe.each([
  {
    where: "on an address that others can reach",
    options: { host: "0.0.0.0" },
  },
  {
    where: "on this machine, when a token is asked for",
    options: { controlToken: "correct horse" },
  },
])("$where", ({ options }) => {
  test("nothing works without the token, and everything with it", async () => {
    const control = await serveControl(options);
    const token = control.server.controlToken as string;
    const right = { authorization: `Bearer ${token}` };
    const calls = await openWithCalls(control, right);
    for (const authorization of [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      "Bearer wrong",
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}x`,
      `Bearer  ${token}`,
      token,
      `Basic ${Buffer.from(`:${token}`).toString("base64")}`,
      `Bearer ${"x".repeat(10_000)}`,
    ]) {
      const headers = authorization === undefined ? {} : { authorization };
      const answers = await expectUnchanged(control, () => askAll(control, calls, headers));
      expect(new Set(answers.map(statusOf))).toEqual(new Set([401]));
      expect(new Set(answers.map(codeOf))).toEqual(new Set(["control_token_required", undefined]));
    }
    const { id } = (await control.ask("/instances", { headers: right })).body.data[0];
    for (const base of ["", `/i/${id}`]) {
      expect((await control.ask("/state", { base, headers: right })).status).toBe(200);
      expect((await control.ask("/reset", { base, method: "POST", headers: right })).status).toBe(200);
      const scheme = { authorization: `bearer ${token}` };
      expect((await control.ask("/health", { base, headers: scheme })).status).toBe(200);
    }
  });

  test("a page of another origin is refused even with the token, and the API needs none", async () => {
    const control = await serveControl(options);
    const headers = {
      authorization: `Bearer ${control.server.controlToken}`,
      origin: "http://evil.example",
    };
    expect((await control.ask("/state", { headers })).status).toBe(403);
    const secret = control.server.sandbox.secret("active");
    const me = await fetch(`${control.server.url}/v1/relying-party/me`, {
      headers: { "x-api-key": secret },
    });
    expect(me.status).toBe(200);
  });

  test("the token is in no answer", async () => {
    const control = await serveControl(options);
    const token = control.server.controlToken as string;
    const right = { authorization: `Bearer ${token}` };
    // Without those that would leave no instance to ask, and no end of the stream of events.
    const calls = (await openWithCalls(control, right)).filter(
      ({ path }) => path !== "/events" && !path.startsWith("/instances/"),
    );
    await askAll(control, calls, right);
    await askAll(control, calls, { authorization: token });
    expect(control.heard.length).toBeGreaterThan(2 * calls.length);
    for (const said of control.heard) expect(said).not.toContain(token);
  });
});

test("two servers that others can reach have two tokens, of 192 random bits", async () => {
  const tokens = new Set<string>();
  for (let i = 0; i < 3; i++) {
    const { server } = await serveControl({ host: "0.0.0.0" });
    expect(server.controlToken).toMatch(/^[\w-]{32}$/);
    tokens.add(server.controlToken as string);
  }
  expect(tokens.size).toBe(3);
});

test("an empty token opens nothing", async () => {
  const open = guardControl({
    loopback: false,
    token: "",
    stopping: new AbortController().signal,
  });
  const next = vi.fn();
  for (const authorization of [undefined, "", "Bearer ", "Bearer  "]) {
    const said: unknown[] = [];
    const response = {
      set: () => response,
      status: (status: number) => {
        said.push(status);
        return response;
      },
      type: () => response,
      send: () => response,
    };
    open({ headers: { host: "example", authorization } } as never, response as never, next);
    expect(said).toEqual([401]);
  }
  expect(next).not.toHaveBeenCalled();
});

test("whatever is sent as the token, two hashes of the same length are compared, in constant time", async () => {
  const { ask } = await serveControl({ controlToken: "correct horse" });
  const compared: number[][] = [];
  const real = crypto.timingSafeEqual;
  const spy = vi.spyOn(crypto, "timingSafeEqual").mockImplementation((one, other) => {
    compared.push([one.byteLength, other.byteLength]);
    return real(one, other);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  for (const given of ["x", "correct hors", "correct horse", "correct horse!", "x".repeat(5000)]) {
    await ask("/health", { headers: { authorization: `Bearer ${given}` } });
  }
  expect(compared).toEqual(Array(5).fill([32, 32]));
});
