import type { World } from "../world.js";
import { changeAssumptions } from "./change-assumptions.js";
import {
  advanceClock,
  changeClock,
  changeFaults,
  clearRequests,
  updateOrganization,
} from "./change-world.js";
import { createKey } from "./create-key.js";
import { decideConsent, suspendAttestation } from "./decide-consent.js";
import type { Duration } from "./input-times.js";
import { revokeKey, rotateKey } from "./rotate-key.js";

/**
 * Every change that users make to a running world, by name.
 *
 * Steps of scenarios, the control plane and the library all run these: `(world, input, by)`. Inputs are spelled as
 * scenarios and HTTP spell them (their schemas: `actionFields` and `controlBodies`). A refused operation throws a
 * `SandboxError` and changes nothing; a finished one is announced and returns the new state of what it changed.
 */
export const operations = {
  create_key: createKey,
  rotate: rotateKey,
  revoke: revokeKey,
  organization: updateOrganization,
  consent: decideConsent,
  attestation: suspendAttestation,
  faults: changeFaults,
  assumptions: changeAssumptions,
  clock: changeClock,
  advance: (world: World, { by }: { readonly by: Duration }) => advanceClock(world, by),
  clear_requests: clearRequests,
};
