import type { Endpoint } from "../endpoint.js";
import { getAttestation, listAttestations } from "./attestations.js";
import { cancelConsentRequest, createConsentRequest, getConsentRequest } from "./consent-requests.js";

/** The announced endpoints (R49). */
export function previewEndpoints(): readonly Endpoint[] {
  return [createConsentRequest, getConsentRequest, cancelConsentRequest, listAttestations, getAttestation];
}
