import type { PathId } from "../domain/outcomes.js";

/** What the holder of a key does about each way in which a request can end. */
export const whatToDo: Readonly<Record<PathId, string>> = {
  "200.test": "Nothing: the key works, and reaches synthetic farmers only.",
  "200.live": "Nothing: the key works, and is a live one.",
  "200.legacy": "It works until it is rotated. Rotate it: the replacement has the current prefix.",
  "200.retiring": "It works until its overlap ends. Change over to its replacement before that.",
  "200.replacement": "Nothing: the key works, and has replaced another one. Retire the old one everywhere.",
  "401.missing":
    "Send the key in the x-api-key header of every request; no other header or parameter is read.",
  "401.malformed":
    "Send one x-api-key header with the key and nothing else: its prefix (SVC_test_ or SVC_live_), then letters, digits, _ and -. No quotes, no Bearer, no spaces.",
  "401.unknown":
    "Check that the client sends the key of this sandbox: the scenario and the seed decide the keys (svc-sandbox keys), and a key of one environment does not work in the other.",
  "401.revoked":
    "Create a new key; a revoked one never works again. Stop sending this one: trying again changes nothing.",
  "401.expired": "Create a new key; an expired one never works again. Rotate the next one before it expires.",
  "401.rotated": "Send the key that replaced it: its overlap is over.",
  "403.access_denied": "The organization has to become active again; no other key of it works either.",
  "403.live_not_approved":
    "The organization's compliance application has to be approved. Use a test key until then.",
  "403.live_suspended":
    "The organization's live access has to be restored. Its test keys go on working meanwhile.",
  "403.insufficient_scope":
    "Create a key with the scope that the endpoint needs; the scopes of a key are chosen when it is created.",
  "429.per_minute": "Wait until the minute is over, then go on more slowly. Do not try again at once.",
  "429.per_day": "Wait until the day is over, and spread the requests; or agree on a higher limit.",
  "404.unknown_path": "Correct the path: GET /v1/relying-party/me is the one there is.",
  "405.method": "Use GET: the Allow header of the answer lists what the path takes.",
  "400.bad_request":
    "Send the body as JSON in UTF-8, with Content-Type: application/json, no longer than 64 KiB.",
  "404.unknown_record":
    "Check the id: a key sees the records of its own organization and environment, and a live key sees no synthetic farmer.",
  "409.conflict": "Read the record again: its state does not allow this any more.",
  "422.validation": "Correct what error.details.fields names, and send the request again.",
  "422.idempotency_key":
    "Make a new Idempotency-Key for each new request; send the same one only to repeat it.",
  "fault.latency": "Wait for it: give the request more time than the answer takes, and do not send it twice.",
  "fault.status": "Send the request again after a while, each time a longer one; give up after a few times.",
  "fault.reset": "Connect anew and send the request again; reading who you are can be repeated safely.",
  "fault.hang":
    "Set a timeout of your own: without one, the client waits for ever. Then send the request again.",
  "fault.truncate":
    "Treat a body that is shorter than announced as no answer, and send the request again; most clients notice by themselves.",
  "fault.malformed":
    "Treat a body that is not valid JSON as no answer, whatever its status, and send the request again.",
  "fault.slow": "Set a timeout for the whole answer, not only for its beginning.",
};
