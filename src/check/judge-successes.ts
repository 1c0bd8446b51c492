import { headerOf, memberOf } from "./answer.js";
import type { Exchange } from "./exchange.js";
import { agreement, disagreement, type Observation } from "./observation.js";
import { visible } from "./shown.js";

/** Holds the 200 answers, in the order in which they came, against each other. */
export function compareSuccesses(successes: readonly Exchange[]): Observation[] {
  return [...compareRequestIds(successes), ...compareUsage(successes), ...compareLimits(successes)];
}

function compareRequestIds(successes: readonly Exchange[]): Observation[] {
  const seen = new Map<string, Exchange>();
  return successes.flatMap((exchange) => {
    const id = headerOf(exchange.answer, "x-request-id");
    if (id === undefined || id === "") return [];
    const earlier = seen.get(id);
    seen.set(id, exchange);
    if (earlier === undefined) return [];
    const expected = "another request id than that of an earlier answer";
    const found = `${visible(id)} again`;
    return [
      disagreement({ rules: ["R7"], pathId: exchange.probe.pathId, at: "X-Request-Id", expected, found }),
    ];
  });
}

// Two requests with the same key, one after the other.
function compareUsage(successes: readonly Exchange[]): Observation[] {
  const seen = new Map<string, number>();
  return successes.flatMap(({ probe, answer }) => {
    const { apiKey = "", pathId } = probe;
    const today = memberOf(memberOf(memberOf(answer.json, "data"), "usage"), "today");
    if (typeof today !== "number") return [];
    const before = seen.get(apiKey);
    seen.set(apiKey, today);
    // Another day may have begun between the two.
    if (before === undefined || (today === 1 && before > 1)) return [];
    if (today === before + 1) return [agreement(pathId, "R6", "R24")];
    const hint = today > before ? "; does another client use this key meanwhile?" : "";
    const expected = `${before + 1}, one more than in the answer before`;
    const found = `${today}${hint}`;
    return [disagreement({ rules: ["R6", "R24"], pathId, at: "$.data.usage.today", expected, found })];
  });
}

function compareLimits(successes: readonly Exchange[]): Observation[] {
  const pathId = "200.replacement";
  const [old, replacement] = ["200.retiring", pathId].map((path) =>
    successes.find(({ probe }) => probe.pathId === path),
  );
  if (old === undefined || replacement === undefined) return [];
  const differing = ["per_minute", "per_day"].flatMap((name) => {
    const [before, after] = [old, replacement].map(({ answer }) =>
      memberOf(memberOf(memberOf(answer.json, "data"), "limits"), name),
    );
    if (before === after) return [];
    const expected = visible(`${JSON.stringify(before)}, as for 200.retiring`);
    const found = visible(`${JSON.stringify(after)}`);
    return [disagreement({ rules: ["R26"], pathId, at: `$.data.limits.${name}`, expected, found })];
  });
  return differing.length === 0 ? [agreement(pathId, "R26")] : differing;
}
