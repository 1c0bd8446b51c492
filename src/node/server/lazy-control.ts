import type { IncomingMessage, ServerResponse } from "node:http";
import type { Runtime } from "../../sandbox/runtime.js";
import type { Instances } from "../control/instances.js";
import { loadFarmers } from "../platform.js";
import { refuse } from "./send-answer.js";

/** The sandbox that a call is about: the server's own, or one of its instances. */
export interface ControlContext {
  readonly runtime: Runtime;
  /** The server's instances; `undefined` inside an instance. */
  readonly instances: Instances | undefined;
}

/** Serves one request to the control plane. */
export type ControlHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: ControlContext,
) => void;

/** The server around the control plane. */
export interface ControlSurroundings {
  /** Whether only this machine can reach the server. */
  readonly loopback: boolean;
  /** The bearer token that every call needs; `undefined` for none. */
  readonly token: string | undefined;
  /** Aborted when the server stops, which ends endless answers. */
  readonly stopping: AbortSignal;
}

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
