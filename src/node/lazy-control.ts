import type { IncomingMessage, ServerResponse } from "node:http";
import type { Host } from "../sandbox/host.js";

/** Serves one request to the control plane. */
export type ControlHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What the control plane has to know. */
export interface ControlSurroundings {
  readonly host: Host;
  /** Whether only this machine can reach the server. */
  readonly loopback: boolean;
  /** The bearer token that every call needs; `undefined` when none does. */
  readonly token: string | undefined;
}

/**
 * The control plane, loaded with the first call to it: Express takes longer to load than everything else together, and
 * most runs never ask for it.
 */
export function lazyControl(
  surroundings: ControlSurroundings,
  onDefect: (error: unknown) => void,
): ControlHandler {
  let loading: Promise<ControlHandler> | undefined;
  return (request, response) => {
    loading ??= import("./control/app.js").then(({ createControlApp }) =>
      createControlApp(surroundings, onDefect),
    );
    loading.then((app) => app(request, response)).catch(onDefect);
  };
}
