import type { IncomingMessage, ServerResponse } from "node:http";
import type { Runtime } from "../sandbox/runtime.js";
import type { Instances } from "./control/instances.js";
import { loadFarmers } from "./load-farmers.js";
import { refuse } from "./refusal.js";

/** On whose behalf a call is made: the server's own sandbox, or one of its instances. */
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

/** What the control plane has to know. */
export interface ControlSurroundings {
  /** Whether only this machine can reach the server. */
  readonly loopback: boolean;
  /** The bearer token that every call needs; `undefined` when none does. */
  readonly token: string | undefined;
  /** Aborted when the server stops: what would go on for ever ends then. */
  readonly stopping: AbortSignal;
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
  return (request, response, context) => {
    loading ??= Promise.all([import("./control/app.js"), loadFarmers()]).then(([{ createControlApp }]) =>
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
