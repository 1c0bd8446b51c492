import type { Exchange } from "../../sandbox/journal/exchange.js";

/** The headers that the server adds to a response of the API. */
export interface AddedHeaders {
  /** Names and values in turn, as Node takes them. */
  readonly list: readonly string[];
  /** The same in the bytes of HTTP, with the headers of an open connection and the empty line behind them. */
  readonly endOfHead: string;
}

/** Milliseconds until an idle connection is closed; sent in `Keep-Alive`. */
export const keepAliveTimeout = 5000;

/** The last headers of a response that leaves its connection open, and the end of its head. */
const endOfOpenHead = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveTimeout / 1000}\r\n\r\n`;

/** The headers of a second, made once for all of its responses. */
interface HeadersOfSecond {
  /** In seconds since 1970. */
  readonly second: number;
  readonly dateLine: string;
  readonly added: AddedHeaders;
}

let latest: HeadersOfSecond = makeHeaders(0);

/** The headers that are added to the response of an exchange. `explain`: also its outcome. */
export function addedHeaders({ date, at, outcome }: Exchange, explain: boolean): AddedHeaders {
  const second = Math.floor((date ?? at) / 1000);
  if (second !== latest.second) latest = makeHeaders(second);
  if (!explain) return latest.added;

  return {
    list: [...latest.added.list, "X-Sandbox-Outcome", outcome],
    endOfHead: `${latest.dateLine}X-Sandbox-Outcome: ${outcome}\r\n${endOfOpenHead}`,
  };
}

/** The headers of a second: the date of the sandbox, because clients wait for its minutes. Node would send the machine's. */
function makeHeaders(second: number): HeadersOfSecond {
  const date = new Date(second * 1000).toUTCString();
  const dateLine = `Date: ${date}\r\n`;
  // Joined: V8 would flatten a string made with `+` again for every response.
  const endOfHead = [dateLine, endOfOpenHead].join("");
  return { second, dateLine, added: { list: ["Date", date], endOfHead } };
}
