import type { Delivery } from "../sandbox/journal/exchange.js";

/** The parts in which adapters send a body that may be cut or slow, and the pause before each. */
export function bodyParts(
  body: string,
  { cutAfter, bytesPerSecond }: Partial<Pick<Delivery, "cutAfter" | "bytesPerSecond">>,
): { readonly parts: readonly Uint8Array[]; readonly pauseMs: number } {
  // Without `cutAfter`, all of the body.
  const sentBytes = new TextEncoder().encode(body).subarray(0, cutAfter);
  if (bytesPerSecond === undefined) {
    const parts = sentBytes.length === 0 ? [] : [sentBytes];
    return { parts, pauseMs: 0 };
  }

  // At most twenty parts a second, each of at least one byte.
  const pauseMs = Math.max(50, 1000 / bytesPerSecond);
  const bytes = Math.max(1, Math.round((bytesPerSecond * pauseMs) / 1000));
  const parts: Uint8Array[] = [];
  for (let start = 0; start < sentBytes.length; start += bytes) {
    parts.push(sentBytes.subarray(start, start + bytes));
  }
  return { parts, pauseMs };
}
