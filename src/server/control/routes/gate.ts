import { storySender } from "../../../api/handle.js";
import {
  gateChecks,
  requestDetails,
  requestJson,
  requireRequest,
  successPaths,
} from "../../../api/request-details.js";
import { requestStep } from "../../../library/capture.js";
import type { Exchange } from "../../../sandbox/history/exchange.js";
import { storyRequest } from "../../../sandbox/story/run-step.js";
import type { World } from "../../../sandbox/world.js";
import type { ControlBody } from "../../../scenario/format/inputs.js";
import { SandboxError } from "../../../spec/errors.js";
import { faultPathIds } from "../../../spec/outcomes.js";
import { answers } from "../answers.js";
import { type Route, route } from "../route.js";

/** Routes for the request checks, and for single requests. */
export const gateRoutes: readonly Route[] = [
  route("GET /gate", {
    summary: "The checks of a request in order, with the path ids of their rejections",
    answer: answers.Gate,
    run: ({ world }) => ({
      checks: gateChecks(world.preview),
      successes: successPaths,
      faults: faultPathIds,
    }),
  }),
  route("GET /requests/{id}", {
    summary:
      "One request: the result of each check, the response, what to do, and the body for /send that repeats it",
    answer: answers.RequestDetails,
    run: ({ world, params: { id = "" } }) => ({
      ...requestDetails(world, id),
      repeat: requestStep(requireRequest(world, id)).step.request,
    }),
  }),
  route("POST /send", {
    summary: "Sends a request to the API; it is in the journal, not in the report",
    body: "sending",
    answer: answers.Sent,
    run({ world, body }) {
      const { status, headers, body: text } = storySender(world)(sendable(world, body));
      const [exchange] = world.history.requests({ limit: 1 });
      return {
        request: requestJson(exchange as Exchange),
        answer: status === 0 ? null : { status, headers, body: text },
      };
    },
  }),
];

function sendable(world: World, given: ControlBody<"sending">) {
  const header = Object.keys(given.headers ?? {}).find((name) => name.toLowerCase() === "x-api-key");
  if (header !== undefined) {
    throw wrongField(`headers.${header}`, "name the key with key: a ref, none, malformed or unknown.");
  }
  try {
    return storyRequest(world, given).request;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    // The sandbox has only the hash of a key that was created at run time, which is all that the API compares.
    if (error.code === "secret_not_kept") {
      const { request } = storyRequest(world, { ...given, key: "unknown" });
      return { ...request, keyHash: world.registry.key(given.key).key.sha256 };
    }
    if (error.code !== "unknown_ref") throw error;
    // An unknown ref is not found in a path, but invalid in a body.
    throw wrongField(error.details?.placeholder === undefined ? "key" : "path", error.message);
  }
}

function wrongField(field: string, problem: string): SandboxError {
  const message = `Failed to send the request: ${problem}`;
  return new SandboxError("validation_failed", message, { fields: { [field]: problem } });
}
