import type { KeyedSent } from "./conformance-script.js";
import type { Seen } from "./send.js";

/** The doors by name, in the order in which the documentation shows them. */
export const doorNames = ["core", "msw", "socket", "express", "browser"] as const;
export type DoorName = (typeof doorNames)[number];

/** A request that does not end in the same way behind every door. */
export interface DoorDifference {
  readonly request: string;
  readonly sent: KeyedSent;
  readonly ends: Readonly<Record<DoorName, string>>;
  readonly why: string;
}

/** How a request ended, in a few words: status and error code, or the error with which the client refused to send it. */
export function ending({ status, body }: Seen): string {
  if (status === 0) return `the client throws a ${body}`;
  if (body === "" || body.startsWith('{"data":')) return String(status);
  const code = /^\{"error":\{"code":"(\w+)"/.exec(body)?.[1];
  return code === undefined ? `${status} of the app` : `${status} \`${code}\``;
}

const everywhere = (how: string, but: Partial<Record<DoorName, string>>): Record<DoorName, string> =>
  ({ ...Object.fromEntries(doorNames.map((name) => [name, how])), ...but }) as Record<DoorName, string>;

const typeError = "the client throws a TypeError";

/** Where the doors differ, and why. */
export const doorDifferences: readonly DoorDifference[] = [
  {
    request: "a GET with a body",
    sent: { key: "active", body: "{}" },
    ends: everywhere("200", { core: typeError, browser: typeError }),
    why: "Fetch has no GET with a body. The API ignores one (R8).",
  },
  {
    request: "the method TRACE",
    sent: { key: "active", method: "TRACE" },
    ends: everywhere("405 `method_not_allowed`", {
      core: typeError,
      express: "500 of the app",
      browser: typeError,
    }),
    why: "Fetch knows no TRACE; http-middleware makes a fetch request of everything.",
  },
  {
    request: "a path outside of `/v1/relying-party`",
    sent: { key: "active", path: "/v2/anything" },
    ends: everywhere("404 `not_found`", { express: "404 of the app" }),
    why: "In an app of yours, all other paths are the app's. `createHandlers` with a base URL takes every path under it.",
  },
  {
    request: "a path with `..` in it",
    sent: { key: "active", path: "/v1/relying-party/../relying-party/me" },
    ends: everywhere("200", { socket: "404 `not_found`" }),
    why: "Fetch resolves `..` before it sends; the server takes the path as it was sent.",
  },
  {
    request: "the path `//`",
    sent: { key: "active", path: "//" },
    ends: everywhere("404 `not_found`", { express: "500 of the app" }),
    why: "http-middleware takes `//` for the start of a host name. With Express 4 instead of 5 it ends the process.",
  },
  {
    request: "a key of 20,000 letters",
    sent: { headers: { "x-api-key": "x".repeat(20_000) } },
    ends: everywhere("401 `unauthorized`", { express: "431" }),
    why: "Node's HTTP server takes 16 KB of headers unless told otherwise (`maxHeaderSize`); ours is told otherwise.",
  },
  {
    request: "`Accept: msw/passthrough`",
    sent: { key: "active", headers: { accept: "msw/passthrough" } },
    ends: everywhere("200", { msw: typeError, express: "404 of the app", browser: typeError }),
    why: "It is how msw's `bypass()` marks a request: on to the network, where there is no api.example, or to the app.",
  },
];
