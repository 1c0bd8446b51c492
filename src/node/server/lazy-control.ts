import { loadFarmers } from "../platform.js";
import type { ControlHandler, ControlSurroundings } from "./http-server.js";
import { refuse } from "./send-answer.js";

/**
 * Makes the control plane, which is loaded by the first call to it: Express takes longer to load than everything else
 * together, and most runs never need it.
 */
export function lazyControl(
  surroundings: ControlSurroundings,
  onDefect: (error: unknown) => void,
): ControlHandler {
  let loading: Promise<ControlHandler> | undefined;
  return (request, response, context) => {
    loading ??= Promise.all([import("../control/app.js"), loadFarmers()]).then(([{ createControlApp }]) =>
      createControlApp(surroundings, onDefect),
    );
    loading
      .then((app) => app(request, response, context))
      .catch((error) => {
        onDefect(error);
        refuse(response, 500);
      });
  };
}
