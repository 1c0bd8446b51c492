import type { Report } from "./report.js";

/** What a report comes to, in a sentence or two. */
export function conclusion({ requests, coverage: { percent, met, promised }, advice }: Report): string {
  if (requests === 0)
    return `The client never called the API. Coverage 0 %: 0 of ${promised} promised paths met.`;
  const counts = (["error", "warning", "note"] as const).flatMap((level) => {
    const count = advice.filter((row) => row.level === level).length;
    return count === 0 ? [] : [counted(count, level)];
  });
  const said = counts.length === 0 ? "No advice" : `Advice: ${counts.join(", ")}`;
  return `Coverage ${percent} %: ${met} of ${promised} promised paths met. ${said}.`;
}

/** A number of things: `1 request`, `2 requests`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
