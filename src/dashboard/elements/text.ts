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

/** A time in UTC: `2 Mar 2026, 09:00:00 UTC`. Every time on the page has this format, or one of its two parts. */
export function instantText(at: string | number): string {
  const { date, time } = instantParts(at);
  return `${date}, ${time}\u00A0UTC`;
}

/** The parts of a time: `2 Mar`, `2026`, `2 Mar 2026`, `09:00:00`. */
export function instantParts(at: string | number) {
  const [, dayOfMonth, month, year = "", time = ""] = new Date(at).toUTCString().split(" ");
  const day = `${Number(dayOfMonth)} ${month}`;
  return { day, year, date: `${day} ${year}`, time };
}
