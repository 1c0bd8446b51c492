import { createClient } from "@redis/client";
import { clearTimeout, setImmediate, setTimeout } from "../../node/platform.js";
import type { RedisAddress } from "./address.js";
import type { Script } from "./scripts.js";

/** A reply of Redis: a text, a number, or a list of replies. */
export type Reply = string | number | null | readonly Reply[];

/** A connection to Redis, which does not reconnect. */
export interface RedisLink {
  /** Rejects if Redis rejects the command, the connection breaks, or no reply arrives in time. */
  readonly command: (argv: readonly string[], longest?: number) => Promise<Reply>;
  readonly run: (script: Script, keys: readonly string[], argv: readonly string[]) => Promise<Reply>;
  readonly close: () => void;
}

/** The code of the error for a reply that did not arrive in time. */
export const silentCode = "REDIS_SILENT";

/**
 * Connects to a Redis.
 *
 * Throws errors of the network, TLS or Redis. Calls `onBroken` once if the connection breaks later.
 */
export async function connectRedis(
  { url }: RedisAddress,
  timeout: number,
  onBroken: (error: unknown) => void = () => {},
): Promise<RedisLink> {
  const client = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    // The library would create a timer for each command, and give up after five seconds. Ours is below.
    commandOptions: { timeout: 0 },
    // We reconnect ourselves: the log must be opened before anything else is sent.
    socket: { reconnectStrategy: false, connectTimeout: timeout },
  });
  let broken: unknown;
  const breakOff = (error: unknown) => {
    if (broken !== undefined) return;
    broken = error;
    client.destroy();
    onBroken(error);
  };
  // Without a listener, the library throws.
  client.on("error", (error) => breakOff(error));
  const connecting = client.connect();
  // A peer that accepts the connection but never responds would block forever.
  await inTime(connecting, timeout, () => client.destroy()).catch((error) => {
    throw broken ?? error;
  });

  const command = (argv: readonly string[], longest = timeout): Promise<Reply> => {
    // The original error is more specific than the error that the connection is closed.
    const replying = client.sendCommand<Reply>([...argv]).catch((error) => {
      throw broken ?? error;
    });
    return inTime(replying, longest, breakOff);
  };
  return {
    command,
    async run({ text, sha1 }, keys, argv) {
      const given = [String(keys.length), ...keys, ...argv];
      try {
        return await command(["EVALSHA", sha1, ...given]);
      } catch (error) {
        if (!/^NOSCRIPT/.test((error as Error).message)) throw error;
        return command(["EVAL", text, ...given]);
      }
    },
    close() {
      broken ??= new Error("closed");
      client.destroy();
    },
  };
}

function inTime<Result>(
  result: Promise<Result>,
  longest: number,
  onSilence: (error: Error) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const silence = () => {
      const error = Object.assign(new Error(`no reply within ${longest} ms`), { code: silentCode });
      reject(error);
      onSilence(error);
    };
    // A paused process first reads what arrived during the pause.
    const timer = setTimeout(() => setImmediate(silence), longest);
    result.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
