import { mePath } from "../rules/outcomes.js";
import type { RequestContent } from "../rules/request.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { StoryStep } from "../sandbox/steps.js";
import { placeholder } from "../scenario/format/fields.js";

type GivenRequest = NonNullable<StoryStep["request"]>;

export function repeatedRequest(exchange: Exchange): GivenRequest {
  const { key, presented, method, content } = exchange;
  const withoutRef = { missing: "none", malformed: "malformed", well_formed: "unknown" }[presented];
  const path = pathOf(exchange);
  return {
    key: key ?? withoutRef,
    ...(method !== "GET" && { method: /^[A-Z]{1,20}$/.test(method) ? method : "OTHER" }),
    ...(path !== mePath && { path }),
    ...(content !== undefined && contentOf(content)),
  };
}

// Parts that were cut out of a path, or that stories cannot contain, change no response.
function pathOf({ path: shown, content }: Exchange): string {
  const encoded = shown
    .replaceAll("…", "*")
    .replace(/[^!-~]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, "0").slice(-2)}`)
    .replace(placeholder, (whole) => `%7B${whole.slice(1, -1)}%7D`);
  const path = (encoded.startsWith("/") ? encoded : `/${encoded}`).slice(0, 1000);
  return content === undefined || content.query === "" ? path : `${path}?${content.query}`;
}

function contentOf({ contentType, idempotencyKey, body: { text } }: RequestContent): Partial<GivenRequest> {
  const headers = {
    ...(contentType !== undefined && { "Content-Type": contentType }),
    ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
  };
  return { ...(Object.keys(headers).length > 0 && { headers }), ...(text !== "" && { body: text }) };
}
