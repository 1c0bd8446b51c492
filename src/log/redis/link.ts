import { createClient } from "@redis/client";
import { clearTimeout, setImmediate, setTimeout } from "../../node/platform.js";
import type { RedisAddress } from "./address.js";
import type { Script } from "./scripts.js";

/** What Redis answers: texts, or lists of answers. */
export type Reply = string | number | null | readonly Reply[];

/** A connection to Redis; a broken one does not come back. */
export interface RedisLink {
  /** Rejects with what Redis refuses, and, when the connection breaks or nothing comes in time, with that. */
  readonly command: (argv: readonly string[], longest?: number) => Promise<Reply>;
  readonly run: (script: Script, keys: readonly string[], argv: readonly string[]) => Promise<Reply>;
  readonly close: () => void;
}

/** Nothing came from Redis in time. */
export const silentCode = "REDIS_SILENT";

/**
 * Connects to a Redis.
 *
 * Throws what the machine, TLS or Redis says against it. `onBroken` is called once when the connection breaks later.
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
    // The library would make a timer for each command and give up after five seconds; our timeouts are set below.
    commandOptions: { timeout: 0 },
    // Nothing may go out on a new connection before the log is opened again: we make it ourselves.
    socket: { reconnectStrategy: false, connectTimeout: timeout },
  });
  let broken: unknown;
  const breakOff = (error: unknown) => {
    if (broken !== undefined) return;
    broken = error;
    client.destroy();
    onBroken(error);
  };
  // The library throws where nobody listens.
  client.on("error", (error) => breakOff(error));
  const connecting = client.connect();
  // A peer that takes the connection and says nothing would hold it for ever.
  await inTime(connecting, timeout, () => client.destroy()).catch((error) => {
    throw broken ?? error;
  });

  const command = (argv: readonly string[], longest = timeout): Promise<Reply> => {
    // What broke the connection says more than that it is broken.
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
      const error = Object.assign(new Error(`nothing came within ${longest} ms`), { code: silentCode });
      reject(error);
      onSilence(error);
    };
    // A process that was paused reads first what has come meanwhile.
    const timer = setTimeout(() => setImmediate(silence), longest);
    result.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
