import type { Fault } from "../../control/answers.js";
import { listed } from "../../elements/words.js";

/** Replaces the faults that are on by what is made of them. */
export type ChangeFaults = (next: (on: readonly Fault[]) => readonly unknown[]) => Promise<void>;

type Condition = NonNullable<Fault["when"]>;

/** The requests that a fault hits, in words: `every 3rd request with the key flaky`. */
export function conditionWords(when: Condition = {}): string {
  const { key, organization, path_id: path, every, requests, probability, after, until } = when;
  const share = probability === undefined ? undefined : `${Math.round(probability * 1000) / 10}\u00a0%`;
  const which =
    requests !== undefined
      ? `request ${listed(requests.map(String))}`
      : every !== undefined && every > 1
        ? `every ${ordinal(every)} request`
        : share === undefined
          ? "every request"
          : `${share} of the requests`;
  return [
    which,
    ...(key === undefined ? [] : [`with the key ${key}`]),
    ...(organization === undefined ? [] : [`of ${organization}`]),
    ...(path === undefined ? [] : [`that would end on ${path}`]),
    ...(share === undefined || which.startsWith(share) ? [] : [`by a chance of ${share}`]),
    ...(after === undefined ? [] : [`from ${timeText(after)}`]),
    ...(until === undefined ? [] : [`until ${timeText(until)}`]),
  ].join(" ");
}

/** The effect of a fault on an answer, in words: `answers 503, after 2s`. */
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
  const said = [
    ...(status === undefined ? [] : [`answers ${status}${body === "html" ? " with a gateway's page" : ""}`]),
    ...(reset ? ["resets the connection"] : []),
    ...(hang ? ["never responds"] : []),
    ...(truncate ? ["cuts the response short"] : []),
    ...(malformed ? ["returns 200 with broken JSON"] : []),
    ...(slow === undefined ? [] : [`sends ${slow} bytes per second`]),
  ];
  if (late === undefined) return listed(said);
  return said.length === 0 ? `delays the response by ${late}` : `${listed(said)}, after ${late}`;
}

function ordinal(number: number): string {
  const ending = { one: "st", two: "nd", few: "rd" } as Readonly<Record<string, string>>;
  return `${number}${ending[new Intl.PluralRules("en", { type: "ordinal" }).select(number)] ?? "th"}`;
}

function timeText(time: string): string {
  return time.replace("T", " ").replace(/(?::00)?(?:\.000)?Z$/, " UTC");
}
