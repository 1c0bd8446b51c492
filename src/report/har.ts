import { sentAnswer } from "../api/story-sender.js";
import { prefixOf } from "../domain/api-key.js";
import type { Exchange } from "../history/exchange.js";
import { isoOf } from "../world/clock.js";
import type { World } from "../world/world.js";

interface NameValue {
  readonly name: string;
  readonly value: string;
}

/** The version of this program, and the base URL for the paths. */
interface HarOptions {
  readonly version: string;
  readonly baseUrl: string;
}

/**
 * Returns the journal as HAR 1.2, without keys. Members that HAR does not define start with `_`.
 *
 * Leaves out headers that the journal does not keep, and bodies for endpoints that accept none.
 */
export function harOf(world: World, options: HarOptions): object {
  const entries = world.history.requests().map((exchange) => entry(exchange, world, options));
  const creator = { name: "svc-sandbox", version: options.version };
  return { log: { version: "1.2", creator, pages: [], entries, comment: world.name } };
}

function entry(exchange: Exchange, world: World, { baseUrl }: HarOptions): object {
  const { id, at, method, path, status, pathId, fault, advice, durationMs, key, fingerprint } = exchange;
  const { content, answer, delivery } = exchange;
  const sent = sentAnswer(answer, delivery);
  const headers = namesAndValues(sent.headers);
  const query = content?.query ?? "";
  const text = content?.body.text ?? "";
  const time = Math.round(durationMs * 1000) / 1000;
  const size = new TextEncoder().encode(sent.body).length;
  const mimeType = sent.headers["content-type"] ?? "";
  return {
    startedDateTime: isoOf(at),
    time,
    request: {
      method,
      url: `${baseUrl}${path}${query === "" ? "" : `?${query}`}`,
      ...{ httpVersion: "HTTP/1.1", cookies: [] },
      headers: [...keyHeader(exchange, world), ...contentHeaders(exchange)],
      queryString: namesAndValues(new URLSearchParams(query)),
      ...(text !== "" && { postData: { mimeType: content?.contentType ?? "", params: [], text } }),
      ...{ headersSize: -1, bodySize: new TextEncoder().encode(text).length },
    },
    response: {
      ...{ status, statusText: "", httpVersion: "HTTP/1.1", cookies: [], headers },
      content: { size, mimeType, text: sent.body },
      ...{ redirectURL: "", headersSize: -1, bodySize: size },
    },
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
    ...{ _id: id, _path_id: pathId, _fault: fault, _key: key, _fingerprint: fingerprint, _advice: advice },
  };
}

function namesAndValues(
  pairs: Iterable<readonly [string, string]> | Readonly<Record<string, string>>,
): NameValue[] {
  const all = Symbol.iterator in pairs ? [...pairs] : Object.entries(pairs);
  return all.map(([name, value]) => ({ name, value }));
}

// Shows only the prefix of a key (R46).
function keyHeader({ key, presented }: Exchange, { registry }: World): NameValue[] {
  if (presented === "missing") return [];
  const record = key === null ? undefined : registry.key(key).key;
  const prefix = record === undefined ? "" : prefixOf(record.environment, record.legacy);
  return [{ name: "x-api-key", value: `${prefix}…` }];
}

function contentHeaders({ content }: Exchange): NameValue[] {
  const { contentType, idempotencyKey } = content ?? {};
  return [
    ...(contentType === undefined ? [] : [{ name: "content-type", value: contentType }]),
    ...(idempotencyKey === undefined ? [] : [{ name: "idempotency-key", value: idempotencyKey }]),
  ];
}
