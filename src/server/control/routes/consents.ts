import { viewConsent } from "../../../api/endpoints/consents/consents.js";
import {
  consentsOf,
  type Decision,
  decideConsent,
  suspendAttestation,
} from "../../../api/endpoints/consents/decisions.js";
import { snakeCase } from "../../../spec/schema/json.js";
import { list } from "../../../spec/schema/shape.js";
import { answers } from "../answers.js";
import { controlRoute, type Route } from "../route.js";

// Their records exist only with the preview (R49).
const extensions = { "x-preview": true };

/** Routes for the farmers' app: consents, attestations. */
export const consentRoutes: readonly Route[] = [
  controlRoute("GET /consents", {
    summary: "All consent requests, oldest first",
    extensions,
    answer: list(answers.Consent),
    run: ({ world }) => consentsOf(world).map((entry) => snakeCase(viewConsent(entry, world))),
  }),
  decision("grant", "Grants a consent request for the farmer"),
  decision("reject", "Rejects a consent request for the farmer"),
  decision("revoke", "Revokes a consent for the farmer"),
  suspension("suspend", "Suspends an active attestation"),
  suspension("resume", "Ends the suspension of an attestation"),
];
function decision(name: Decision, summary: string): Route {
  return controlRoute(`POST /consents/{id}/${name}`, {
    summary,
    extensions,
    answer: answers.Consent,
    run: ({ world, params: { id = "" } }) => snakeCase(decideConsent(world, { id, do: name }).consent),
  });
}

function suspension(name: "suspend" | "resume", summary: string): Route {
  return controlRoute(`POST /attestations/{id}/${name}`, {
    summary,
    extensions,
    answer: answers.Attestation,
    run: ({ world, params: { id = "" } }) =>
      snakeCase(suspendAttestation(world, { id, do: name }).attestation),
  });
}
