import {
  bodyOf,
  longestBody,
  noBody,
  type ReadBody,
  type RequestContent,
  tooLongBody,
} from "../api/request-content.js";

/** Reads what an endpoint takes of a web request; `search` is the query of its URL. Rejects when its body breaks off. */
export async function readContent(
  request: Request,
  search: string,
  takesBody: boolean,
): Promise<RequestContent> {
  return {
    query: search.slice(1),
    contentType: request.headers.get("content-type") ?? undefined,
    idempotencyKey: request.headers.get("idempotency-key") ?? undefined,
    body: takesBody ? await readBody(request) : noBody,
  };
}

async function readBody(request: Request): Promise<ReadBody> {
  const { body } = request;
  if (body === null) return noBody;
  // The Request of some test environments has no streams.
  if (body === undefined) return bodyOf(new TextEncoder().encode(await request.text()));
  const reader = body.getReader();
  const gathered = new Uint8Array(longestBody);
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bodyOf(gathered.subarray(0, length));
    if (length + value.length > longestBody) {
      // Whoever sends it is told that nobody wants the rest; what they say to that is of no interest.
      reader.cancel().catch(() => {});
      return tooLongBody;
    }
    gathered.set(value, length);
    length += value.length;
  }
}
