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
    write(text) {
      if (!closed) stream.write(text);
    },
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
      // Keeps nothing alive itself: it is for what handlers of the user's own leave running.
      setTimeout(() => process.exit(), stopWithin).unref();
    });
  }
  return stopping.signal;
}
