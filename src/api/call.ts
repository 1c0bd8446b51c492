import type { ObservedCall } from "../sandbox/client-behaviour.js";
import type { World } from "../sandbox/world.js";
import type { Assumptions } from "../spec/assumptions.js";
import type { Presented } from "../spec/authorize.js";
import type { Endpoint } from "./endpoint.js";
import type { Route } from "./routes.js";
import { chosenVariation, type Variation } from "./variation/vary.js";

/** A request in progress, with everything that its response depends on. */
export interface Call extends ObservedCall {
  /** Its route and endpoint; `undefined` if the API has none. */
  readonly route: Route | undefined;
  readonly endpoint: Endpoint | undefined;
  /** Whether the user's handler responds. It may accept anything. */
  readonly isGuarded: boolean;
  /** On the sandbox's clock; read once, so that authorization, counters and journal agree. */
  readonly now: number;
  /** When it arrived, on the stopwatch. */
  readonly started: number;
  /** The number of the request in the sandbox. */
  readonly number: number;
  /** The request id, even if the response does not have it. */
  readonly id: string;
  readonly presented: Presented;
  readonly assumptions: Assumptions;
  /** The variation of its response; `undefined` except in the profile `varied`. */
  readonly variation: Variation | undefined;
}

/** The call with the variants that a trial of a client chooses for a response with this status. */
export function asChosen(world: World, call: Call, status: number, isContext = false): Call {
  const { number, variation } = call;
  const choose = world.trial?.choose;
  if (variation === undefined || choose === undefined) return call;
  const chosen = chosenVariation(world, number, variation, choose, { status, isContext });
  return { ...call, id: chosen.requestId, assumptions: chosen.assumptions, variation: chosen };
}
