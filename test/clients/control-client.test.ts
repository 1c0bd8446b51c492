import { once } from "node:events";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ControlClient } from "../../src/node/clients/control-client.js";
import { makeSelfSigned } from "../../src/server/sockets/tls.js";
import { temporaryFolder } from "../support/temporary-folder.js";

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
  await new ControlClient({ url, ca, timeout: 10_000, program: "svc-sandbox" }).stop();
  expect([left, server.listening]).toEqual([0, false]);
});
