import { once } from "node:events";
import type { Output } from "./terminal.js";

/**
 * The output of this process. What cannot be written is dropped, and the next text is tried again; but once a write has failed,
 * nobody counts as reader. Reports the first failure that is not a closed pipe.
 */
export function createOutput(stream: NodeJS.WriteStream, reportFailure: (error: unknown) => void): Output {
  let hasFailed = false;
  let hasReported = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    hasFailed = true;
    // A reader that has enough (`| head`) closes the pipe.
    const isClosedByReader = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
    if (isClosedByReader || hasReported) return;
    hasReported = true;
    reportFailure(error);
  });

  return {
    isTTY: stream.isTTY,
    // Windows are resized, so it is read each time. Some terminals report 0 for unknown.
    get columns() {
      return stream.columns || undefined;
    },
    write: (text, done) => stream.write(text, done),
    async waitForReader(until) {
      const mustWait = stream.writableNeedDrain && !hasFailed && !until.aborted;
      if (mustWait) {
        // A failed stream or an abort rejects, which also ends the wait.
        await once(stream, "drain", { signal: until }).catch(() => {});
      } else {
        // The event loop needs a turn to handle signals.
        await new Promise(setImmediate);
      }
      return !hasFailed;
    },
  };
}
