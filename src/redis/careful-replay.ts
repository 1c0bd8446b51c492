import type { EndedInstance } from "../log/instances.js";
import { describeSandbox } from "../sandbox/start.js";
import { type RedisConnection, separator } from "./redis-connection.js";
import { resumeScript } from "./redis-scripts.js";
import { createSandboxCopy, type RunCall } from "./sandbox-copy.js";
import { type Loaded, loadSandbox, packed } from "./stored-sandbox.js";

// A stored entry must not end every server that replays it. The hash of a sandbox has two more fields:
//
// | `replaying` | `trying` | state | a server that loads it |
// |---|---|---|---|
// | no | no | nobody replays | sets `replaying`, replays all entries, removes it |
// | yes | no | a server replays, or ended while it did | replays carefully: one batch after another, each in `trying` |
// | yes | a batch | a server tries this batch, or ended with it | waits for 10 s, then skips the batch |
//
// After a careful replay, the sandbox continues from a new snapshot after the last batch, so that servers that have applied a
// skipped batch load it again.

type Options = Parameters<typeof createSandboxCopy>[1];

/** How long a server may take for one batch (milliseconds). */
const lease = 10_000;
const pause = 250;

/** Reads a sandbox like `loadSandbox`, without a batch that ended a server. Its caller replays the batches and then calls `onReplayed`. */
export async function loadToReplay(
  connection: RedisConnection,
  id: string,
  optionsOf: (found: Loaded) => Options,
  runCall: RunCall,
): Promise<Loaded | EndedInstance | undefined> {
  const [hash] = connection.keys.of(id);
  for (;;) {
    const found = await loadSandbox(connection, id);
    if (found === undefined || "ended" in found || found.batches.length === 0) return found;
    if (found.replaying === "") {
      // A full Redis does not store it. The next server then replays as this one does.
      await connection.command("HSET", hash, "replaying", "1").catch(() => {});
      return found;
    }
    await replayCarefully(connection, id, found, optionsOf(found), runCall);
  }
}

/** Ends the replay of a sandbox. */
export function onReplayed(connection: RedisConnection, id: string): void {
  connection.command("HDEL", connection.keys.of(id)[0], "replaying").catch(() => {});
}

async function replayCarefully(
  connection: RedisConnection,
  id: string,
  { state, batches }: Loaded,
  options: Options,
  runCall: RunCall,
): Promise<void> {
  const { command, keys, run } = connection;
  const [hash, stream] = keys.of(id);
  const copy = createSandboxCopy(state, options, runCall);
  const skipped: string[] = [];
  for (const [position, [, texts]] of batches) {
    if (await isTried(connection, hash, position)) {
      skipped.push(position);
      connection.onSkipped(id, position);
    } else {
      await command("HSET", hash, "trying", `${position} ${connection.time()}`);
      for (const text of texts.split(separator)) {
        try {
          await copy.apply(JSON.parse(text), position, text.length);
        } catch {
          // Its own server reports the error.
        }
      }
    }
    await command("HDEL", hash, "trying");
  }
  const [head = ""] = batches.at(-1) ?? [];
  // Without a skipped batch, the other servers continue.
  const snapshot = skipped.length === 0 ? "" : packed(JSON.stringify(describeSandbox(copy.runtime)));
  await run(resumeScript, [hash, stream], [head, snapshot]);
}

/** Whether a server has ended with this batch. Waits for one that is still trying it. */
async function isTried({ command, time }: RedisConnection, hash: string, position: string): Promise<boolean> {
  for (;;) {
    const [tried, at] = String((await command("HGET", hash, "trying")) ?? "").split(" ");
    if (tried !== position) return false;
    if (time() - Number(at) > lease) return true;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
