/** The address of a Redis server. */
export interface RedisAddress {
  /** Includes user and password; never shown. */
  readonly url: string;
  /** Without user and password. */
  readonly shown: string;
}

/** Parses a URL such as `rediss://user:password@redis.example:6380/2`; returns `undefined` for any other text. */
export function readRedisAddress(text: string): RedisAddress | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, pathname, search, hash, username, password } = new URL(text);
  const isPlain = search === "" && hash === "" && /^(?:\/\d{0,5})?$/.test(pathname);
  if (!/^rediss?:$/.test(protocol) || host === "" || !isPlain) return undefined;
  if (!canDecode(username) || !canDecode(password)) return undefined;
  return { url: text, shown: `${protocol}//${host}${pathname.replace(/\/$/, "")}` };
}

// The client decodes them, and its error would show a text that it cannot decode.
function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The default prefix of all key names. */
export const defaultPrefix = "svc-sandbox:";

/** Whether a text can be a prefix: it has no special meaning in Redis patterns and shells. */
export function isPrefix(text: string): boolean {
  return /^[A-Za-z0-9._:/-]{1,64}$/.test(text);
}

/** Returns the key names of a log, by default the server's. A log's keys share one slot of a cluster. */
export function keysOf(prefix: string, id?: string): readonly [string, string, string] {
  const name = id === undefined ? `{${prefix}}` : `{${prefix}${id}}:instance`;
  return [`${name}:meta`, `${name}:log`, `${name}:snapshot`];
}

// Excludes keys of a longer prefix.
export function isOfInstance(prefix: string, key: string): boolean {
  return /^\w{12}\}:instance:(?:meta|log|snapshot)$/.test(key.slice(prefix.length + 1));
}
