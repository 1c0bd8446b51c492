import { now } from "../control/now.js";

/** A time in UTC: `2 Mar 2026, 09:00:00 UTC`. Every time on the page has this format, or one of its two parts. */
export function instantText(at: string | number): string {
  const [day, time] = instantParts(at);
  return `${day}, ${time} UTC`;
}

export function instantParts(at: string | number): readonly [day: string, time: string] {
  const [, day, month, year, time = ""] = new Date(at).toUTCString().split(" ");
  return [`${Number(day)} ${month} ${year}`, time];
}

/** A time of the sandbox; nothing for an unknown time. */
export function InstantText({ at }: { readonly at: string | number }) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return null;
  const iso = time.toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {instantText(iso)}
    </time>
  );
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** A duration in its largest units: `1 h 5 min`. */
export function durationText(milliseconds: number, max = 2): string {
  let rest = Math.max(0, Math.round(milliseconds / 1000) * 1000);
  const parts = [];
  for (const [unit, length] of units) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count}\u00A0${unit}`);
  }
  return parts.slice(0, max).join(" ") || "0 s";
}

/**
 * The time until or since an instant on the sandbox's clock: `in 29 min`, `5 min ago`. The view must keep `now` up to date.
 *
 * A past event is never shown as a future one, even if the page's clock lags.
 */
export function Until({ at, hasHappened = false }: { readonly at: string; readonly hasHappened?: boolean }) {
  const until = Date.parse(at) - now.value;
  const left = hasHappened ? Math.min(0, until) : until;
  if (Number.isNaN(left)) return null;
  const text =
    left > 0
      ? `in ${durationText(Math.max(left, 1000))}`
      : left === 0
        ? "just now"
        : `${durationText(Math.max(-left, 1000))} ago`;
  return <span>{text}</span>;
}
