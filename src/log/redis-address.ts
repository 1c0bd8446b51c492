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

/** The key names of a sandbox and of the list of instances. All share one hash tag. */
export function keysOf(prefix: string) {
  const start = `{${prefix}}:`;
  return {
    list: `${start}instances`,
    /** Returns the hash, the stream, the list, and the key about the end of a sandbox; `own` is the server's own. */
    of: (id: string) =>
      [`${start}${id}:state`, `${start}${id}:log`, `${start}instances`, `${start}${id}:end`] as const,
    /** The parts around an instance's id. */
    parts: [start, ":state", ":log", ":end"] as const,
    backup: (version: string) => `${start}backup-${version}`,
  };
}

/** The id of a server's own sandbox. */
export const ownId = "own";

/** Whether a key belongs to the layout of svc-sandbox 0.1. */
export function isOfEarlier(prefix: string, key: string): boolean {
  return /^(?:\w{12}\}:instance|\}):(?:meta|log|snapshot)$/.test(key.slice(prefix.length + 1));
}

/** Whether a key belongs to a sandbox under the prefix. */
export function isOwnKey(prefix: string, key: string): boolean {
  return /^\}:(?:instances|\w+:(?:state|log|end)|backup-.*)$/.test(key.slice(prefix.length + 1));
}
