import { captureText } from "../../../library/capture.js";
import { ref } from "../../../scenario/format/fields.js";
import { described, mapping, optional, text } from "../../../spec/schema/shape.js";
import { controlRoute, textResponse } from "../route.js";

export const captureRoute = controlRoute("GET /capture", {
  summary: "Requests and changes as a scenario with a story, for verify and play",
  query: mapping({
    from: optional(described(text(), "The id of the first request. Default: the oldest one that is kept.")),
    to: optional(described(text(), "The id of the last request. Default: the last one.")),
    key: optional(
      described(ref(), "Only requests with the key of this ref, or with none, malformed or unknown."),
    ),
  }),
  response: text(),
  types: ["application/yaml"],
  run: ({ sandbox, query }) => textResponse("application/yaml", captureText(sandbox, query)),
});
