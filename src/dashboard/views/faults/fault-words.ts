import type { Shown } from "../../control/responses.js";
import { instantText } from "../../elements/instant.js";
import { listText } from "../../elements/words.js";

type Fault = Shown<"Fault">;

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
    ...(after === undefined ? [] : [`after ${instantText(after)}`]),
    ...(until === undefined ? [] : [`until ${instantText(until)}`]),
  ].join(" ");
}

/** A description of a fault's effects: `sends 503, after 2s`. */
export function effectsText(
  { latency, ...then }: Fault["then"],
  effects: Shown<"RequestChecks">["effects"],
): string {
  const late =
    typeof latency !== "object"
      ? latency
      : "min" in latency
        ? `${latency.min} to ${latency.max}`
        : `about ${latency.median}, rarely ${latency.p99}`;
  const words = effects.flatMap(({ effect, does }) => {
    const value = effect === "latency" ? undefined : then[effect];
    if (value === undefined || value === false) return [];
    if (effect === "status") return [`sends ${value}${then.body === "html" ? " with a gateway's page" : ""}`];
    return [effect === "slow" ? `sends ${value} bytes per second` : does];
  });
  if (late === undefined) return listText(words);
  return words.length === 0 ? `delays the response by ${late}` : `${listText(words)}, after ${late}`;
}

function ordinal(number: number): string {
  const suffix: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd" };
  return `${number}${suffix[new Intl.PluralRules("en", { type: "ordinal" }).select(number)] ?? "th"}`;
}
