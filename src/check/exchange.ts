import type { Answer } from "./answer.js";
import type { Probe } from "./probe.js";

/** A request and the answer that it got. */
export interface Exchange {
  readonly probe: Probe;
  readonly answer: Answer;
}
