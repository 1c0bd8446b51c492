import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createMiddleware } from "@mswjs/http-middleware";
import express from "express";
import { onTestFinished } from "vitest";
import type { Sandbox } from "../../src/index.js";
import { createHandlers } from "../../src/integrations/msw.js";
import { clientOf, type Door, openSandbox } from "./doors.js";
import { sendOnSocket } from "./exchange.js";

/** A partner's own Express app, with the sandbox mounted in it as `docs/frameworks.md` shows. */
export const expressDoor: Door = {
  name: "express",
  async open(scenario, options) {
    const sandbox = openSandbox(scenario, options);
    return clientOf(sandbox, sendOnSocket(await mountInExpress(sandbox)));
  },
};

/** Starts an Express app with the sandbox behind the app's own routes, for this test, and returns its port. */
export async function mountInExpress(
  sandbox: Sandbox,
  addRoutes: (app: express.Express) => void = () => {},
): Promise<number> {
  const app = express();
  app.disable("x-powered-by");
  addRoutes(app);
  // Its types mean msw's CommonJS half, ours the other one; the handlers are the same.
  app.use(createMiddleware(...(createHandlers(sandbox) as never[])));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
