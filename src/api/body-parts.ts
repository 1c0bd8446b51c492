import type { Delivery } from "../sandbox/journal/call-result.js";

/** At most so many parts are sent each second. */
const mostPartsPerSecond = 20;

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

  // The pause follows from the bytes, which are whole: 30 bytes a second are 2 bytes each 66.7 ms.
  const bytes = Math.ceil(bytesPerSecond / mostPartsPerSecond);
  const pauseMs = (1000 * bytes) / bytesPerSecond;
  const parts: Uint8Array[] = [];
  for (let start = 0; start < sentBytes.length; start += bytes) {
    parts.push(sentBytes.subarray(start, start + bytes));
  }
  return { parts, pauseMs };
}
