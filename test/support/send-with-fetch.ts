import { isOfTheConnection, mePath, type Seen, type Send, type Sent, textOf } from "./seen.js";

/** Sends with a fetch: that of a sandbox, of Node or of a page. Throws the fetch's `TypeError` for what it refuses. */
export function sendWithFetch(
  fetch: (url: string, init: RequestInit) => Promise<Response>,
  base: string,
): Send {
  return async (sent) => seenIn(await fetch(base + (sent.path ?? mePath), initOf(sent)));
}

function initOf({ method = "GET", headers = {}, body }: Sent): RequestInit {
  const web = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value].flat()) web.append(name, one as string);
  }
  return { method, headers: web, ...(body !== undefined && { body }) };
}

async function seenIn(response: Response): Promise<Seen> {
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => !isOfTheConnection(name)),
    body: textOf(await response.arrayBuffer()),
  };
}
