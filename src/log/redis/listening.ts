import type { RedisLink, Reply } from "./link.js";
import { chunk, type RedisLog } from "./redis-log.js";

/** Milliseconds of one listening call, of one while some logs are busy, and of the pause after each. */
const listening = 1000;
const busyListening = 200;
const rest = 20;

/**
 * Waits for other replicas' appends, and passes them to the logs. Needs its own connection. Skips busy logs, because the
 * replies to their own appends contain the others' as well.
 *
 * `place` returns the stream of a log and its position there, unless it is busy. Resolves to whether nothing arrived, and
 * the milliseconds before the next call.
 */
export async function listenOnce(
  logs: ReadonlySet<RedisLog>,
  link: RedisLink,
  place: (log: RedisLog) => readonly [stream: string, at: string] | undefined,
  timeout: number,
): Promise<{ readonly isQuiet: boolean; readonly pause: number }> {
  const followed = [...logs].flatMap((log) => {
    const from = place(log);
    return from === undefined ? [] : [{ log, stream: from[0], at: from[1] }];
  });
  if (followed.length === 0) return { isQuiet: false, pause: 5 * rest };
  const block = followed.length < logs.size ? busyListening : listening;
  const streams = [...followed.map(({ stream }) => stream), ...followed.map(({ at }) => at)];
  const argv = ["XREAD", "COUNT", String(chunk), "BLOCK", String(block), "STREAMS", ...streams];
  const reply = (await link.command(argv, block + timeout)) as [string, Reply[]][] | null;
  const found = new Map(reply ?? []);
  for (const { log, stream, at } of followed) {
    const batches = found.get(stream);
    if (batches !== undefined) log.bring(batches, at);
  }
  return { isQuiet: reply === null, pause: rest };
}
