import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ControlHandler } from "../sockets/http-server.js";
import { pausedUntil } from "../sockets/pipelined-requests.js";
import { sendServerError } from "../sockets/send-error.js";
import type { ControlServer } from "./route.js";

/** The control plane. Its first call loads it: Express takes longer to load than everything else, and most runs do not need it. */
export class LateControl {
  readonly #server: ControlServer;
  #loaded: ControlHandler | undefined;

  constructor(server: ControlServer) {
    this.#server = server;
  }

  /** Responds to a call. */
  readonly handle: ControlHandler = (request, response) => {
    if (this.#loaded === undefined) this.#loadAndHandle(response);
    else this.#loaded(request, response);
  };

  async #loadAndHandle(response: ServerResponse): Promise<void> {
    const { req: request } = response;
    try {
      const loaded = await this.#loadFor(request.socket);
      loaded(request, response);
    } catch (error) {
      this.#server.onDefect(error);
      sendServerError(response, 500);
    }
  }

  /** Loads the control plane for a call on a connection. Calls on several connections get the same one. */
  async #loadFor(connection: Socket): Promise<ControlHandler> {
    const { createControlApp } = await pausedUntil(import("./app.js"), connection);
    this.#loaded ??= createControlApp(this.#server);
    return this.#loaded;
  }
}
