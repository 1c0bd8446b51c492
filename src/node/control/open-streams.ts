import type { Runtime } from "../../sandbox/runtime.js";

type End = () => void;

const streamsOf = new WeakMap<Runtime, Set<End>>();

/** Remembers how to end a stream of a runtime's events; answers how to forget it. */
export function rememberStream(runtime: Runtime, end: End): () => void {
  const streams = streamsOf.get(runtime) ?? new Set();
  streamsOf.set(runtime, streams);
  streams.add(end);
  return () => streams.delete(end);
}

/** Ends the streams of a runtime that is gone: nothing will ever happen on it again. */
export function endStreams(runtime: Runtime): void {
  for (const end of streamsOf.get(runtime) ?? []) end();
}
