import type { Effect, ShownFault } from "../control/responses.js";
import { instantText, percentText, shortened } from "./text.js";

/** The requests that match a fault: `every 3rd request with the key flaky`. */
export function conditionWords(when: ShownFault["when"] = {}): string {
  const { probability, every = 1, requests, key, organization, outcome, after, until } = when;
  const words = [];
  if (probability !== undefined) words.push(`with a probability of ${percentText(probability)},`);

  if (requests !== undefined) words.push(`request ${shortened(requests.join(", "), 60)}`);
  else if (every > 1) words.push(`every ${ordinal(every)} request`);
  else words.push("every request");

  if (key !== undefined) words.push(`with the key ${key}`);
  if (organization !== undefined) words.push(`from ${organization}`);
  if (outcome !== undefined) words.push(`that would result in ${outcome}`);
  if (after !== undefined) words.push(`after ${instantText(after)}`);
  if (until !== undefined) words.push(`until ${instantText(until)}`);
  return words.join(" ");
}

/** `2nd`, `3rd`, `21st`. */
export function ordinal(nth: number): string {
  // All from the 11th to the 19th end in `th`.
  const last = /1\d$/.test(`${nth}`) ? 0 : nth % 10;
  const ending = ["th", "st", "nd", "rd"][last];
  return `${nth}${ending ?? "th"}`;
}

/** The effects of a fault: `2s late, status 503`. */
export function effectWords(then: ShownFault["then"], effects: readonly Effect[]): string {
  const words = Object.entries(then).map(([name, value]) => {
    const label = effects.find(({ effect }) => effect === name)?.label ?? `${name} {}`;
    // A range has a start and an end.
    const valueText = typeof value === "object" ? Object.values(value).join(" to ") : value;
    return label.replace("{}", String(valueText));
  });
  return words.join(", ");
}
