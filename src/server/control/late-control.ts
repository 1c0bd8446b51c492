import type { ServerResponse } from "node:http";
import type { ControlHandler } from "../sockets/http-server.js";
import { sendServerError } from "../sockets/send-error.js";
import type { ControlServer } from "./control-server.js";

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
    try {
      const { createControlApp } = await import("./app.js");
      // Calls that come during the loading get the same one.
      this.#loaded ??= createControlApp(this.#server);
      this.#loaded(response.req, response);
    } catch (error) {
      this.#server.onDefect(error);
      sendServerError(response, 500);
    }
  }
}
