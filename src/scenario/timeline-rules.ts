import { actionNames } from "../domain/steps.js";
import type { Finding } from "./finding.js";
import { keysAtStart, type StepKeys } from "./step-keys.js";
import { actionFindings, addKeyMade, oneThingFindings } from "./step-rules.js";
import { parseTime } from "./when.js";
import { fromStart, type ScenarioRule, type WorldFacts } from "./world-facts.js";

/** Each step of the timeline does one thing, to what is there by then. */
export const timelineFits: ScenarioRule = (facts) => {
  const keys = keysAtStart(facts);
  // What the story makes may be there by the time.
  for (const { fields } of facts.story) addKeyMade(fields, keys);
  return facts.timeline.flatMap(({ fields, path }) => {
    const findings = oneThingFindings(fields, actionNames, path);
    if (findings.length === 0) findings.push(...actionFindings(fields, path, keys, facts));
    addKeyMade(fields, keys);
    return findings;
  });
};

/** The steps of the timeline stand in the order in which they happen, after the start of the clock. */
export const timelineIsInOrder: ScenarioRule = (facts) => {
  const findings: Finding[] = [];
  let latest: string | undefined;
  for (const { fields, path } of facts.timeline) {
    const at = [...path, "at"];
    const begins = fromStart(fields.at, facts);
    if (begins !== undefined && begins < 0) {
      const message = `this would be before the clock starts (${fields.at})`;
      findings.push({
        code: "timeline_order",
        path: at,
        message,
        hint: "write a later time, or describe the world as it is at the start",
      });
      continue;
    }
    if (latest !== undefined && isEarlier(fields.at, latest, facts)) {
      const message = `the step is earlier (${fields.at}) than the one before it (${latest})`;
      findings.push({
        code: "timeline_order",
        path: at,
        message,
        hint: "put the steps in the order of their times",
      });
    } else latest = fields.at;
  }
  return findings;
};

/** The keys that a story can find: those of the start, and those that the timeline makes. */
export function keysOfTimeline(facts: WorldFacts): StepKeys {
  const keys = keysAtStart(facts);
  for (const { fields } of facts.timeline) addKeyMade(fields, keys);
  return keys;
}

function isEarlier(one: string, other: string, facts: WorldFacts): boolean {
  // Two times can be compared wherever the clock starts.
  const [oneTime, otherTime] = [parseTime(one), parseTime(other)];
  if (oneTime !== undefined && otherTime !== undefined) return oneTime < otherTime;
  const [oneStart, otherStart] = [fromStart(one, facts), fromStart(other, facts)];
  return oneStart !== undefined && otherStart !== undefined && oneStart < otherStart;
}
