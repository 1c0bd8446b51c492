import type { Host } from "../../sandbox/host.js";

type End = () => void;

const streamsOf = new WeakMap<Host, Set<End>>();

/** Remembers how to end a stream of a host's events; answers how to forget it. */
export function rememberStream(host: Host, end: End): () => void {
  const streams = streamsOf.get(host) ?? new Set();
  streamsOf.set(host, streams);
  streams.add(end);
  return () => streams.delete(end);
}

/** Ends the streams of a host that is gone: nothing will ever happen on it again. */
export function endStreams(host: Host): void {
  for (const end of streamsOf.get(host) ?? []) end();
}
