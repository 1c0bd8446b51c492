import { lastClockInstant } from "../../rules/key-state.js";
import { atStart, compareTimes, readTimeOrDuration, type TimeOrDuration } from "../format/when.js";
import type { ScenarioRule } from "./rule-input.js";

/** The clock can still move after its start. */
const clockIsWithinYears: ScenarioRule = ({ clockStart, problems }) => {
  if (clockStart === "unknown" || clockStart <= lastClockInstant) return;
  problems.add({
    code: "out_of_range",
    field: ["clock", "now"],
    message: `a clock cannot start after ${new Date(lastClockInstant).toISOString()}`,
    hint: "write an earlier time",
  });
};

/** No step of the timeline is earlier than a step before it, or than the clock's start. */
const timelineIsInOrder: ScenarioRule = ({ scenario, clockStart, problems }) => {
  const { timeline = [] } = scenario;
  // A step can be at a duration from the clock's start, or at a time. While that start is unknown, a time and a duration have no
  // order: of 10m, 2026-03-02T09:00:00Z and 5m, the last is compared with 10m. So the last step of each kind is kept.
  let lastDuration = atStart;
  let lastTime: TimeOrDuration | undefined;
  for (const [index, { at }] of timeline.entries()) {
    const step = readTimeOrDuration(at);
    for (const earlier of [lastDuration, lastTime]) {
      if (earlier === undefined || compareTimes(clockStart, step, earlier) !== "before") continue;
      problems.add({
        code: "timeline_order",
        field: ["timeline", index, "at"],
        message: `the step is earlier (${at}) than the one before it, or the start of the clock`,
        hint: "write a later time, or sort the steps by time",
      });
      return;
    }
    if (step.kind === "duration") lastDuration = step;
    else lastTime = step;
  }
};

export const timeRules: readonly ScenarioRule[] = [clockIsWithinYears, timelineIsInOrder];
