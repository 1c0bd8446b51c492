import { exitCode } from "./exit-codes.js";
import { describeFailure } from "./failure.js";
import type { Io, Output } from "./io.js";
import { isVerbose } from "./verbose.js";

/** Connects the command line with a real process: its streams, its signals, and what nobody caught. */
export function processIo(process: NodeJS.Process): Io {
  const stderr = outputOf(process.stderr);
  process.on("uncaughtException", (error) => {
    stderr.write(describeFailure(error, { verbose: isVerbose(process.argv, process.env) }));
    process.exit(exitCode.defect);
  });
  return {
    stdout: outputOf(process.stdout),
    stderr,
    env: process.env,
    cwd: process.cwd(),
    stopSignal: () => stopSignalOf(process),
    takeSignals: (listener) => takeSignals(process, listener),
    endSoon: () => endSoon(process),
    // Loaded when needed: few commands wait, and fewer are waited for.
    async wait(milliseconds, signal) {
      const { setTimeout: sleep } = await import("node:timers/promises");
      // It rejects when it is aborted, which is to have waited long enough.
      await sleep(milliseconds, undefined, { signal }).catch(() => {});
    },
    async keyPresses() {
      const { keyPressesOf } = await import("./key-presses.js");
      return keyPressesOf(process.stdin);
    },
  };
}

// A reader that has seen enough (`| head`) closes the pipe. That is no error: the rest is written to nobody.
function outputOf(stream: NodeJS.WriteStream): Output {
  let closed = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") throw error;
    closed = true;
  });
  return {
    isTTY: stream.isTTY,
    // Looked up each time: windows are made wider. Some terminals say 0, which is not to know.
    get columns() {
      return stream.columns || undefined;
    },
    write(text) {
      if (!closed) stream.write(text);
    },
    room: (until) =>
      new Promise((resolve) => {
        const events = ["drain", "error", "close"];
        const look = () => {
          for (const event of events) stream.off(event, look);
          until.removeEventListener("abort", look);
          resolve(!closed);
        };
        // A turn of the event loop, in which signals come through.
        if (closed || !stream.writableNeedDrain || until.aborted) return void setImmediate(look);
        for (const event of events) stream.on(event, look);
        until.addEventListener("abort", look);
      }),
  };
}

/** How long after the wish to stop the process ends at the latest, in milliseconds: what open requests are given, and a little more. */
const stopWithin = 2500;

const signalNumbers = { SIGINT: 2, SIGTERM: 15 } as const;

function stopSignalOf(process: NodeJS.Process): AbortSignal {
  const stopping = new AbortController();
  for (const [name, number] of Object.entries(signalNumbers)) {
    process.on(name, () => {
      // Whoever asks twice does not want to wait for open requests.
      if (stopping.signal.aborted) process.exit(128 + number);
      stopping.abort();
      endSoon(process);
    });
  }
  return stopping.signal;
}

function takeSignals(process: NodeJS.Process, listener: (signal: NodeJS.Signals) => void): () => void {
  const taken = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
  for (const name of taken) process.on(name, listener);
  return () => {
    for (const name of taken) process.off(name, listener);
  };
}

// Keeps nothing alive itself: it is for what handlers of the user's own leave running.
function endSoon(process: NodeJS.Process): void {
  setTimeout(() => process.exit(), stopWithin).unref();
}
