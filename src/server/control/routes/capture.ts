import { captureText } from "../../../library/capture.js";
import * as s from "../../../rules/schema/shape.js";
import { ref } from "../../../scenario/format/fields.js";
import { controlRoute, textResponse } from "../route.js";

export const captureRoute = controlRoute("GET /capture", {
  summary: "Requests and changes as a scenario with a story, for verify and play",
  query: s.mapping({
    from: s.optional(
      s.described(s.text(), "The id of the first request. Default: the oldest one that is kept."),
    ),
    to: s.optional(s.described(s.text(), "The id of the last request. Default: the last one.")),
    key: s.optional(
      s.described(ref(), "Only requests with the key of this ref, or with none, malformed or unknown."),
    ),
  }),
  response: s.text(),
  types: ["application/yaml"],
  run: ({ sandbox, query }) => textResponse("application/yaml", captureText(sandbox, query)),
});
