/** A text of any length, cut off after so many characters. */
export function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The name of a file without its folders. */
export function fileName(file: string): string {
  return file.replace(/.*[\\/]/, "");
}

/** The name of a scenario's file without its extension. */
export function withoutExtension(name: string): string {
  return name.replace(/\.ya?ml$/, "");
}

/** A number with its noun: `1 request`, `1,200 requests`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A share from 0 to 1: `12.5%`. */
export function percentText(share: number): string {
  return `${Math.round(share * 1000) / 10}%`;
}

/** The duration of a request: `12.5 ms`, or `< 0.1 ms`. */
export function millisecondsText(duration: number): string {
  return duration < 0.1 ? "< 0.1 ms" : `${duration.toFixed(1)} ms`;
}

/** A time in UTC: `2 Mar 2026, 09:00:00 UTC`. Every time on the page has this format, or one of its two parts. */
export function instantText(at: string | number): string {
  const { date, time } = instantParts(at);
  return `${date}, ${time}\u00A0UTC`;
}

interface InstantParts {
  /** `2 Mar`. */
  readonly day: string;
  readonly year: string;
  /** `2 Mar 2026`. */
  readonly date: string;
  /** `09:00:00`. */
  readonly time: string;
}

export function instantParts(at: string | number): InstantParts {
  const [, dayOfMonth, month, year = "", time = ""] = new Date(at).toUTCString().split(" ");
  const day = `${Number(dayOfMonth)} ${month}`;
  return { day, year, date: `${day} ${year}`, time };
}

/** The units of a duration in milliseconds, the largest first. */
const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** A duration of a second or more in its two largest units: `1 h 5 min`. */
export function durationText(milliseconds: number): string {
  let rest = Math.round(milliseconds / 1000) * 1000;
  const parts = [];
  for (const [unit, length] of units) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count}\u00A0${unit}`);
  }
  return parts.slice(0, 2).join(" ");
}
