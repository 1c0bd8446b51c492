/** The start of a text of any length. */
export function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

/** A number with its noun: `1 request`, `1,200 requests`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

const asList = new Intl.ListFormat("en-GB");

const maxListed = 12;

/** Texts as one list: `a, b and c`. */
export function listText(texts: readonly string[]): string {
  const rest = texts.length - maxListed;
  return asList.format([...texts.slice(0, maxListed), ...(rest > 0 ? [`${rest} more`] : [])]);
}

/** The duration of a request: `1,200.5 ms`, or `< 0.1 ms`. */
export function millisecondsText(duration: number): string {
  if (duration < 0.1) return "< 0.1 ms";
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${duration.toLocaleString("en", digits)} ms`;
}
