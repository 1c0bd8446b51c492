import { headerOf, memberOf } from "./answer.js";
import type { Exchange } from "./exchange.js";
import { disagreement, type Observation } from "./observation.js";

/** The `per_minute` that a 200 reports; `undefined` when it is none. */
export function perMinuteOf({ answer }: Exchange): number | undefined {
  const limit = memberOf(memberOf(memberOf(answer.json, "data"), "limits"), "per_minute");
  return typeof limit === "number" && Number.isInteger(limit) && limit >= 0 ? limit : undefined;
}

/**
 * What it means that `per_minute` + 1 requests got no 429: a difference (R22), unless a new minute may have begun.
 */
export function judgeNoLimit(sent: readonly Exchange[], perMinute: number): Observation | string {
  const minutes = new Set(sent.map(({ answer }) => minuteOf(headerOf(answer, "date"))));
  if (minutes.size !== 1 || minutes.has(undefined)) {
    return `a minute may have ended while ${sent.length} requests were sent; none got 429`;
  }
  return disagreement({
    rules: ["R22"],
    pathId: "429.per_minute",
    at: "status",
    expected: "429",
    found: `200 for ${sent.length} requests in one minute; per_minute is ${perMinute}`,
  });
}

function minuteOf(date: string | undefined): number | undefined {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? undefined : Math.floor(time / 60_000);
}
