import { mePath } from "../../rules/known-paths.js";
import { isSuccess, outcomes, successStatuses } from "../../rules/outcomes.js";
import * as s from "../../schema/shape.js";
import { endpointPath } from "./endpoint-path.js";
import { scope } from "./fields.js";

// The endpoints of a scenario. `checks/endpoint-rules.ts` checks their fields against each other.

/** The operation id of `/me`, and the names of its successes: another endpoint would cover them. */
const idsOfMe = outcomes.map(({ id }) => id).filter(isSuccess);
const successesOfMe = idsOfMe.map((id) => id.replace("200.", ""));
const namesOfMe = ["getRelyingPartyContext", ...successesOfMe];

const operationId = s.text({
  noun: "the operation id of an endpoint",
  example: "listConsents",
  pattern: new RegExp(`^(?!(?:${namesOfMe.join("|")})$)[A-Za-z][A-Za-z0-9_-]{0,63}$`),
  hint(name) {
    if (namesOfMe.includes(name)) return `${name} belongs to ${mePath}: choose another name`;
    return "start with a letter, then write at most 63 letters, digits, _ and -";
  },
});

const endpointFields = s.mapping({
  method: s.optional(s.choice(["GET", "POST", "PUT", "PATCH", "DELETE"])),
  path: endpointPath,
  scope: s.optional(s.orNull(scope())),
  status: s.optional(s.choice(successStatuses)),
  body: s.optional(s.anything()),
});

/** `null` removes an endpoint of the scenario that this one extends. */
export const endpointsSchema = s.record(s.orNull(endpointFields), operationId);
