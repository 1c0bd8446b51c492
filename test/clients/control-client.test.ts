import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ControlClient } from "../../src/node/clients/control-client.js";
import { makeSelfSigned } from "../../src/server/sockets/tls.js";
import { listening } from "../support/servers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("a server that ignores the offset ends the list of its keys", async () => {
  const next_request = { outcome: "200.test", code: null, why: null, until: null, fault_outcomes: [] };
  const data = [
    { ref: "one", fingerprint: null, next_request },
    { ref: "two", fingerprint: null, next_request },
  ];
  let calls = 0;
  const server = createServer((_request, response) => {
    calls += 1;
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ status: "ok", version: "1.0.0", data }));
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  const { keys } = await new ControlClient({ url, tokenFrom: "a test", timeout: 5000 }).keys();
  expect(keys.map(({ ref }) => ref)).toEqual(["one", "two"]);
  expect(calls).toBe(3);
});

test("stop waits for a server whose certificate only --ca trusts until it no longer listens", async () => {
  const pair = await makeSelfSigned(hostname());
  const ca = join(temporaryFolder({ "ca.pem": pair.cert }), "ca.pem");
  const started = { scenario: "main", started_at: "2026-03-02T09:00:00.000Z" };
  let left = 3;
  const server = createSecureServer(pair, (request, response) => {
    if (request.method === "POST") {
      response.end(JSON.stringify({ data: started }));
      return;
    }
    left -= 1;
    response.end(JSON.stringify({ status: "ok", version: "1.0.0" }));
    if (left === 0) server.close();
  });
  await once(server.listen(0), "listening");
  const url = `https://${hostname()}:${(server.address() as AddressInfo).port}`;
  await new ControlClient({ url, tokenFrom: "a test", ca, timeout: 10_000 }).stop();
  expect([left, server.listening]).toEqual([0, false]);
});
