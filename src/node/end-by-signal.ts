/**
 * Ends this process by a signal that it does not listen to any more.
 *
 * Not by `process.exit`: that waits for the file system, which may be what does not come back.
 */
export function endBySignal(signal: NodeJS.Signals): void {
  process.kill(process.pid, signal);
}
