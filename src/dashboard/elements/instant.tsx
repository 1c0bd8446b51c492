import { now } from "../control/now.js";

/** A time in UTC, as in the API: `2 Mar 2026, 09:00`. */
function timeText(time: Date, precision: "minute" | "second"): string {
  const [, day, month, year, clock = ""] = time.toUTCString().split(" ");
  return `${Number(day)} ${month} ${year}, ${precision === "second" ? clock : clock.slice(0, 5)}`;
}

/** A time of the sandbox, in UTC; nothing for an unknown time. */
export function InstantText(props: {
  readonly at: string | number | null;
  readonly precision?: "minute" | "second";
}) {
  const { at, precision = "minute" } = props;
  const time = typeof at === "string" ? Date.parse(at) : (at ?? Number.NaN);
  if (Number.isNaN(time)) return null;
  const date = new Date(time);
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {timeText(date, precision)} UTC
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
export function durationText(milliseconds: number, most = 2): string {
  let rest = Math.max(0, Math.round(milliseconds / 1000) * 1000);
  const parts = [];
  for (const [unit, length] of units) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, most).join(" ") || "0 s";
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
