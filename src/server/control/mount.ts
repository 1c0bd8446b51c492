import { nextTick } from "../../node/platform.js";
import { reject } from "../sockets/messages.js";
import type { ControlHandler, Server } from "../sockets/server-state.js";

/** Loaded by the first call: Express takes longer to load than everything else, and most runs do not need it. */
export function mountControl(state: Server): ControlHandler {
  let app: ControlHandler | undefined;
  const load = async () => {
    const { createControlApp } = await import("./app.js");
    app ??= createControlApp(state);
    return app;
  };
  return (request, response, target) => {
    if (app !== undefined) return app(request, response, target);
    // Pauses the connection while loading: otherwise all further data would be buffered.
    let isLoading = true;
    nextTick(() => isLoading && request.socket.pause());
    load()
      .finally(() => {
        isLoading = false;
        request.socket.resume();
      })
      .then((loaded) => loaded(request, response, target))
      .catch((error) => {
        state.onDefect(error);
        reject(response, 500);
      });
  };
}
