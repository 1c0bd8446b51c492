import { mePath } from "../rules/known-paths.js";
import { type Exchange, sentKeyRef } from "../sandbox/journal/exchange.js";
import type { ControlBody } from "../scenario/format/inputs.js";

// A request of the journal as `POST /send` takes it. It takes methods of capital letters, and paths from a slash on, in visible
// ASCII, with 1,000 characters at most. So the path of the journal is changed in these ways:
//
// | path of the journal | sent | because |
// |---|---|---|
// | `/v1/SVC_test_…` | `/v1/SVC_test_*` | the journal writes `…` for the rest of a key or of a long path |
// | `/v1/é` | `/v1/*` | `/send` takes no such character |
// | `v1` | `/v1` | it has no slash |

const longestSendable = 1000;

/** A space, `\n`, `é`, `…` and all else that is no visible ASCII. */
const outsideVisibleAscii = /[^!-~]/gu;

/** The body for `/send` that repeats a request of the journal. */
export function repeatableRequest(exchange: Exchange): ControlBody<"sending"> {
  // Any unknown method gets the same response.
  const isSendable = /^[A-Z]{1,20}$/.test(exchange.method);
  const method = isSendable ? exchange.method : "OTHER";
  const path = repeatablePath(exchange.path);
  return {
    key: sentKeyRef(exchange),
    ...(method !== "GET" && { method }),
    ...(path !== mePath && { path }),
  };
}

function repeatablePath(shownPath: string): string {
  // A `*` gets the same response as what it stands for: both are only the value of a parameter, or in no endpoint's path.
  let path = shownPath.replace(outsideVisibleAscii, "*");
  if (!path.startsWith("/")) path = `/${path}`;
  if (path.length <= longestSendable) return path;
  // Without the part of an escape, such as `%E`.
  return path.slice(0, longestSendable).replace(/%.?$/, "");
}
