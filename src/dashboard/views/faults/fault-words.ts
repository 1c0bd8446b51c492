import type { Fault } from "../../control/answers.js";
import { listText } from "../../elements/words.js";

/** Replaces the active faults with the result of a function. */
export type ChangeFaults = (next: (on: readonly Fault[]) => readonly unknown[]) => Promise<void>;

type Condition = NonNullable<Fault["when"]>;

/** A description of the requests that match a fault: `every 3rd request with the key flaky`. */
export function conditionWords(when: Condition = {}): string {
  const { key, organization, path_id: path, every, requests, probability, after, until } = when;
  const share = probability === undefined ? undefined : `${Math.round(probability * 1000) / 10}%`;
  const which =
    requests !== undefined
      ? `request ${listText(requests.map(String))}`
      : every !== undefined && every > 1
        ? `every ${ordinal(every)} request`
        : share === undefined
          ? "every request"
          : `${share} of the requests`;
  return [
    which,
    ...(key === undefined ? [] : [`with the key ${key}`]),
    ...(organization === undefined ? [] : [`from ${organization}`]),
    ...(path === undefined ? [] : [`that would result in ${path}`]),
    ...(share === undefined || which.startsWith(share) ? [] : [`with a probability of ${share}`]),
    ...(after === undefined ? [] : [`after ${timeText(after)}`]),
    ...(until === undefined ? [] : [`until ${timeText(until)}`]),
  ].join(" ");
}

/** A description of a fault's effect: `returns 503, after 2s`. */
export function effectWords({
  latency,
  status,
  body,
  reset,
  hang,
  truncate,
  malformed,
  slow,
}: Fault["then"]): string {
  const late = typeof latency === "object" ? `${latency.min} to ${latency.max}` : latency;
  const effects = [
    ...(status === undefined ? [] : [`returns ${status}${body === "html" ? " with a gateway's page" : ""}`]),
    ...(reset ? ["resets the connection"] : []),
    ...(hang ? ["never responds"] : []),
    ...(truncate ? ["cuts the response short"] : []),
    ...(malformed ? ["returns 200 with broken JSON"] : []),
    ...(slow === undefined ? [] : [`sends ${slow} bytes per second`]),
  ];
  if (late === undefined) return listText(effects);
  return effects.length === 0 ? `delays the response by ${late}` : `${listText(effects)}, after ${late}`;
}

function ordinal(number: number): string {
  const ending = { one: "st", two: "nd", few: "rd" } as Readonly<Record<string, string>>;
  return `${number}${ending[new Intl.PluralRules("en", { type: "ordinal" }).select(number)] ?? "th"}`;
}

function timeText(time: string): string {
  return time.replace("T", " ").replace(/(?::00)?(?:\.000)?Z$/, " UTC");
}
