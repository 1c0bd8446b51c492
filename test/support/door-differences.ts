import type { KeyedSent } from "./conformance-script.js";
import { sectionOf } from "./pages.js";
import type { Seen } from "./send.js";

/** The entry points by name, in the order of the columns in docs/integrations.md. */
const doorNames = ["core", "msw", "socket", "express", "browser"] as const;
export type DoorName = (typeof doorNames)[number];

/** A request that does not end in the same way behind every entry point. */
export interface DoorDifference {
  /** How docs/integrations.md calls it. */
  readonly request: string;
  readonly sent: KeyedSent;
  readonly ends: Readonly<Record<DoorName, string>>;
}

/** How a request ended, in a few words: status and error code, or the error with which the client rejected to send it. */
export function ending({ status, body }: Seen): string {
  if (status === 0) return `throws ${body}`;
  if (body === "" || body.startsWith('{"data":')) return String(status);
  const code = /^\{"error":\{"code":"(\w+)"/.exec(body)?.[1];
  return code === undefined ? `${status} of the app` : `${status} \`${code}\``;
}

const requests: Readonly<Record<string, KeyedSent>> = {
  "a GET with a body": { key: "active", body: "{}" },
  "the method TRACE": { key: "active", method: "TRACE" },
  "a path outside of `/v1/relying-party`": { key: "active", path: "/v2/anything" },
  "a path with `..` in it": { key: "active", path: "/v1/relying-party/../relying-party/me" },
  "the path `//`": { key: "active", path: "//" },
  "a key of 20,000 letters": { headers: { "x-api-key": "x".repeat(20_000) } },
  "`Accept: msw/passthrough`": { key: "active", headers: { accept: "msw/passthrough" } },
};

export const doorDifferences: readonly DoorDifference[] = sectionOf(
  "docs/integrations.md",
  "Where the integrations differ",
)
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\|[ -]*\|/.test(line))
  .map((line) => {
    const [request = "", ...ends] = line
      .slice(2)
      .split(" | ")
      .map((cell) => cell.trim());
    const sent = requests[request];
    if (sent === undefined) throw new Error(`docs/integrations.md: no test sends ${request}`);
    const byDoor = Object.fromEntries(doorNames.map((name, column) => [name, ends[column]]));
    return { request, sent, ends: byDoor as Record<DoorName, string> };
  });
