/** The address of a Redis. */
export interface RedisAddress {
  /** With user and password: never shown. */
  readonly url: string;
  /** Without them. */
  readonly shown: string;
}

/** Reads a URL such as `rediss://user:password@redis.example:6380/2`; `undefined` for what is none. */
export function readRedisAddress(text: string): RedisAddress | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, pathname, search, hash, username, password } = new URL(text);
  const isPlain = search === "" && hash === "" && /^(?:\/\d{0,5})?$/.test(pathname);
  if (!/^rediss?:$/.test(protocol) || host === "" || !isPlain) return undefined;
  if (!canDecode(username) || !canDecode(password)) return undefined;
  return { url: text, shown: `${protocol}//${host}${pathname.replace(/\/$/, "")}` };
}

// The client decodes them, and fails with what it could not decode.
function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The text that stands before the names of all keys. */
export const defaultPrefix = "svc-sandbox:";

/** Whether keys can begin with this: what no pattern of Redis and no shell takes for something else. */
export function isPrefix(text: string): boolean {
  return /^[A-Za-z0-9._:/-]{1,64}$/.test(text);
}

/** The names of the keys of a log, by default of the server's. All are in one slot of a cluster, and each log has its own. */
export function keysOf(prefix: string, id?: string): readonly [string, string, string] {
  const name = id === undefined ? `{${prefix}}` : `{${prefix}${id}}:instance`;
  return [`${name}:meta`, `${name}:log`, `${name}:snapshot`];
}

// Not one of a longer prefix.
export function isOfInstance(prefix: string, key: string): boolean {
  return /^\w{12}\}:instance:(?:meta|log|snapshot)$/.test(key.slice(prefix.length + 1));
}
