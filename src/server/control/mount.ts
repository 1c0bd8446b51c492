import { nextTick } from "../../node/platform.js";
import type { ControlHandler } from "../sockets/http-server.js";
import { refuse } from "../sockets/messages.js";
import type { MountControl } from "../sockets/serve-log.js";

/**
 * Makes the control plane, which `load` or the first call loads: Express takes longer to load than everything else together,
 * and most runs do not need it.
 */
export const mountControl: MountControl = (surroundings, onDefect) => {
  let loading: Promise<void> | undefined;
  let app: ControlHandler | undefined;
  const load = () => {
    loading ??= import("./app.js")
      .then(({ createControlApp }) => {
        app = createControlApp(surroundings, onDefect);
      })
      .catch((error) => {
        // The next call tries again: by then, file descriptors may be free.
        loading = undefined;
        throw error;
      });
    return loading;
  };
  const serve: ControlHandler = (request, response, context) => {
    if (app !== undefined) return app(request, response, context);
    // Pauses the connection while loading: otherwise all further data would be buffered.
    let isLoading = true;
    nextTick(() => isLoading && request.socket.pause());
    load()
      .finally(() => {
        isLoading = false;
        request.socket.resume();
      })
      .then(() => app?.(request, response, context))
      .catch((error) => {
        onDefect(error);
        refuse(response, 500);
      });
  };
  return { serve, load };
};
