import { bytesOf } from "../sandbox/history/exchange.js";
import type { Runtime } from "../sandbox/runtime.js";

/** The default limit of all journals of a server's instances, in bytes. */
export const defaultMostJournals = 16e6;

/** The part that remains when a limit is exceeded, so that the next request does not exceed it again. */
export const keptPart = 3 / 4;

/** Watches the journals of instances; calls `onFull` with the bytes to keep when they exceed `most` bytes together. */
export function createJournals(most: number, onFull: (kept: number) => void) {
  /** At least the bytes of all journals. */
  let bytes = 0;
  return {
    watch({ history }: Runtime): void {
      bytes += history.bytes();
      history.subscribe((event) => {
        if (event.type !== "request") return;
        bytes += bytesOf(event.exchange);
        if (bytes > most) onFull(keptPart * most);
      });
    },
    /** Returns an equal share of `kept` bytes, and the instances with longer journals, which the caller must shorten. */
    share<One extends { readonly runtime: Runtime }>(all: Iterable<One>, kept: number) {
      const sizes = Array.from(all, (one) => ({ one, bytes: one.runtime.history.bytes() }));
      const share = equalShare(
        sizes.map((size) => size.bytes),
        kept,
      );
      bytes = sizes.reduce((sum, size) => sum + Math.min(size.bytes, share), 0);
      return { share, long: sizes.filter((size) => size.bytes > share).map(({ one }) => one) };
    },
  };
}

/** Returns the limit for each size so that all together are at most `most`; small sizes leave more to the others. */
function equalShare(sizes: readonly number[], most: number): number {
  let left = most;
  const ascending = [...sizes].sort((a, b) => a - b);
  for (const [index, size] of ascending.entries()) {
    const share = left / (sizes.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}
