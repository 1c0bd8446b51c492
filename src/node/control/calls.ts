import type { ControlCall } from "./call.js";
import { consentCalls } from "./consent-calls.js";
import { farmerCalls } from "./farmer-calls.js";
import { faultCalls } from "./fault-calls.js";
import { instanceCalls } from "./instance-calls.js";
import { keyCalls } from "./key-calls.js";
import { reportCalls } from "./report-calls.js";
import { scenarioCalls } from "./scenario-calls.js";
import { storyCalls } from "./story-calls.js";
import { worldCalls } from "./world-calls.js";

/** Every call of the control plane that answers with JSON. */
export const controlCalls: readonly ControlCall[] = [
  ...worldCalls,
  ...reportCalls,
  ...farmerCalls,
  ...consentCalls,
  ...faultCalls,
  ...keyCalls,
  ...scenarioCalls,
  ...instanceCalls,
  ...storyCalls,
];
