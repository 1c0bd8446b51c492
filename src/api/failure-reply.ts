import { type FailureStatus, failures } from "../domain/fault.js";
import type { World } from "../sandbox/world.js";
import { assumedFor, type BegunCall, requestIdOf } from "./call.js";
import { errorBody } from "./error-body.js";
import { type ApiAnswer, type JsonBody, utf8Length } from "./messages.js";
import type { FlatHeaders } from "./open-headers.js";

/** What is left of an answer that never came. */
export const noAnswer: ApiAnswer = { status: 0, headers: [], body: "" };

/** A failure of the service, in the API's error body. */
export function failureReply(world: World, call: BegunCall, status: FailureStatus): ApiAnswer {
  const { code, message } = failures[status];
  const requestId = assumedFor(world, call).request_id_on_errors
    ? ["X-Request-Id", requestIdOf(world, call)]
    : [];
  return answerOf(status, "application/json", errorBody(code, message), requestId);
}

/** A failure of a gateway, which knows nothing of the API and answers with a page of its own. */
export function gatewayPage(status: FailureStatus): ApiAnswer {
  const title = `${status} ${failures[status].reason}`;
  const text = `<html>\r
<head><title>${title}</title></head>\r
<body>\r
<center><h1>${title}</h1></center>\r
<hr><center>gateway</center>\r
</body>\r
</html>\r
`;
  return answerOf(status, "text/html", { text, bytes: text.length }, []);
}

// Says nothing of anyone: it is sent whatever the key.
const brokenJson = '{"data":{"organization":,"environment":"","scopes":[}}';

/** A success whose body arrives whole and is no JSON. */
export function malformedReply(world: World, call: BegunCall): ApiAnswer {
  const body = { text: brokenJson, bytes: utf8Length(brokenJson) };
  return answerOf(200, "application/json", body, ["X-Request-Id", requestIdOf(world, call)]);
}

function answerOf(status: number, type: string, body: JsonBody, headers: FlatHeaders): ApiAnswer {
  return {
    status,
    headers: ["Content-Type", type, ...headers, "Content-Length", String(body.bytes)],
    body: body.text,
  };
}
