import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ServerOrder, ServerReady } from "./programs.js";

function serveBare({ headers, body }: ServerOrder): Promise<ServerReady> {
  const server = createServer((_request, response) => {
    response.writeHead(200, headers as string[]);
    response.end(body);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, keys: [] }));
  });
}

// A bench that fails must not leave its servers behind.
process.once("disconnect", () => process.exit());
process.once("message", async (order: ServerOrder) => {
  process.send?.(await serveBare(order));
});
