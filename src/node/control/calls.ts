import type { ControlCall } from "./call.js";
import { faultCalls } from "./fault-calls.js";
import { instanceCalls } from "./instance-calls.js";
import { keyCalls } from "./key-calls.js";
import { scenarioCalls } from "./scenario-calls.js";
import { worldCalls } from "./world-calls.js";

/** Every call of the control plane that answers with JSON. */
export const controlCalls: readonly ControlCall[] = [
  ...worldCalls,
  ...faultCalls,
  ...keyCalls,
  ...scenarioCalls,
  ...instanceCalls,
];
