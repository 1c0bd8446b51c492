import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Asking, expectUnchanged, type ServedControl, serveControl } from "./client.js";
import { acceptedWrites } from "./writes.js";

type Call = Asking & { readonly path: string };

/** Reads and writes of every kind. */
const calls: readonly Call[] = [
  ...["/", "/state", "/revision", "/openapi.json", "/nothing"].map((path) => ({ path })),
  ...acceptedWrites,
  { path: "/keys", method: "OPTIONS" },
  { path: "/keys", method: "HEAD" },
];

/** Sends all calls with these headers; responds with the statuses and the codes that came of them. */
async function outcomes({ ask }: ServedControl, sent: readonly Call[], headers: object) {
  const statuses = new Set<number>();
  const codes = new Set<string>();
  for (const { path, ...call } of sent) {
    const { status, body } = await ask(path, { ...call, headers: { ...call.headers, ...headers } });
    statuses.add(status);
    // A response to HEAD has no body.
    if (body?.error !== undefined) codes.add(body.error.code);
  }
  return [...statuses, ...codes];
}

describe("on a loopback address", () => {
  test("a foreign host, as after DNS rebinding, is rejected everything", async () => {
    const control = await serveControl();
    await expectUnchanged(control, async () => {
      for (const host of [
        "evil.example:4747",
        "127.0.0.1.evil.example",
        "evillocalhost",
        "127.0.0.1@evil.example",
        "0.0.0.0",
        "[fe80::1]",
        "[::ffff:10.0.0.1]",
        "a b[",
      ]) {
        expect(await outcomes(control, calls, { host })).toEqual([403, "foreign_host"]);
      }
    });
  });

  test("a page of another origin is rejected everything", async () => {
    const control = await serveControl();
    await expectUnchanged(control, async () => {
      for (const headers of [
        ...["http://evil.example", "null", "", "http://127.0.0.1:1"].map((origin) => ({ origin })),
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
      ]) {
        expect(await outcomes(control, calls, headers)).toEqual([403, "foreign_origin"]);
      }
    });
  });

  test("a link on a page of another origin opens the pages, which have no data, and only at the top", async () => {
    const { ask } = await serveControl();
    const by = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    const { status, headers } = await ask("/", { headers: by });
    expect([status, headers["x-frame-options"]]).toEqual([200, "DENY"]);
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    for (const [path, changed] of [
      ...["/state", "/report?format=markdown"].map((one) => [one, {}] as const),
      ["/", { "sec-fetch-dest": "iframe" }],
      ["/", { "sec-fetch-mode": "no-cors" }],
      ["/", { origin: "http://evil.example" }],
    ] as const) {
      const { body } = await ask(path, { headers: { ...by, ...changed } });
      expect([path, changed, body.error.code]).toEqual([path, changed, "foreign_origin"]);
    }
    expect((await ask("/", { method: "POST", headers: by })).status).toBe(403);
  });

  test("this machine's own names, and the server's own page, are accepted", async () => {
    const { server, ask } = await serveControl();
    const { host, port } = new URL(server.url);
    for (const headers of [
      { host: `localhost:${port}`, origin: `http://localhost:${port}` },
      { host: "LOCALHOST:1" },
      { host: "svc.localhost:1" },
      { host: "127.1.2.3" },
      { host: "[::1]:1" },
      // As from a program without one.
      { host: "" },
      { host: "[::ffff:7f00:1]" },
      { origin: `http://${host}`, "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" },
    ]) {
      expect([headers, (await ask("/state", { headers })).status]).toEqual([headers, 200]);
      expect((await ask("/reset", { method: "POST", headers })).status).toBe(200);
    }
  });
});

describe.each([
  { where: "on an address that others can reach", options: { host: "0.0.0.0" } },
  { where: "with a control token", options: { controlToken: "correct horse" } },
])("$where", ({ options }) => {
  test("nothing works without the token, everything with it, and the API needs none", async () => {
    const control = await serveControl(options);
    const token = control.server.controlToken as string;
    const right = { authorization: `Bearer ${token}` };
    // The page itself holds nothing of the sandbox, and asks for the token.
    const needing = calls.filter(({ path }) => path !== "/");
    await expectUnchanged(control, async () => {
      for (const authorization of ["", "Bearer", `Bearer ${token}x`, `Bearer ${token.slice(0, -1)}`, token]) {
        expect(await outcomes(control, needing, { authorization })).toEqual([401, "control_token_required"]);
      }
      expect(await outcomes(control, needing, {})).toEqual([401, "control_token_required"]);
      const foreign = { ...right, origin: "http://evil.example" };
      expect(await outcomes(control, calls, foreign)).toEqual([403, "foreign_origin"]);
    });
    expect((await control.ask("/state", { headers: right })).status).toBe(200);
    expect((await control.ask("/reset", { method: "POST", headers: right })).status).toBe(200);
    const headers = { authorization: `bearer ${token}` };
    expect((await control.ask("/health", { headers })).body.scenario).toBe("key-states");
    // A probe has no token, and learns nothing about the sandbox.
    const { status, body } = await control.ask("/health");
    expect([status, Object.keys(body)]).toEqual([200, ["status", "version"]]);
    expect((await control.ask("/ready")).status).toBe(200);
    const key = { "x-api-key": control.server.sandbox.secret("active") };
    expect((await fetch(`${control.server.url}/v1/relying-party/me`, { headers: key })).status).toBe(200);
  });

  test("no response contains the token", async () => {
    const control = await serveControl(options);
    const token = control.server.controlToken as string;
    const right = { authorization: `Bearer ${token}` };
    const lasting = calls.filter(({ path }) => path !== "/stop");
    await outcomes(control, lasting, right);
    await outcomes(control, lasting, { authorization: token });
    expect(control.heard).toHaveLength(2 * lasting.length);
    for (const said of control.heard) expect(said).not.toContain(token);
  });
});

test("a stop ends the server after its response", async () => {
  const { server, ask } = await serveControl();
  expect((await ask("/stop")).status).toBe(405);
  const { body } = await ask("/stop", { method: "POST", json: {} });
  expect(body.data).toEqual({ scenario: "key-states", seed: 1, started_at: expect.stringMatching(/Z$/) });
  const isGone = () => fetch(server.url).then(Boolean, () => "gone");
  await expect.poll(isGone).toBe("gone");
});

test("a server that others can reach makes its own token of 192 random bits, also for an empty one", async () => {
  const { server, ask } = await serveControl({ host: "0.0.0.0", controlToken: "" });
  const other = await serveControl({ host: "0.0.0.0" });
  expect(server.controlToken).toMatch(/^[\w-]{32}$/);
  expect(other.server.controlToken).not.toBe(server.controlToken);
  for (const authorization of ["", "Bearer ", "Bearer  "]) {
    expect((await ask("/state", { headers: { authorization } })).status).toBe(401);
  }
});

test("tokens are compared as hashes of one length, in constant time", async () => {
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
  for (const token of ["x", "correct hors", "correct horse", "correct horse!", "x".repeat(5000)]) {
    await ask("/state", { headers: { authorization: `Bearer ${token}` } });
  }
  expect(compared).toEqual(Array(5).fill([32, 32]));
});
