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
  // While the start of the clock is unknown, only two times have an order, or two durations.
  const latest: Record<TimeOrDuration["kind"], TimeOrDuration | undefined> = {
    duration: atStart,
    time: undefined,
  };
  for (const [index, { at }] of timeline.entries()) {
    const time = readTimeOrDuration(at);
    for (const earlier of [latest.duration, latest.time]) {
      if (earlier === undefined || compareTimes(clockStart, time, earlier) !== "before") continue;
      problems.add({
        code: "timeline_order",
        field: ["timeline", index, "at"],
        message: `the step is earlier (${at}) than the one before it, or the start of the clock`,
        hint: "write a later time, or sort the steps by time",
      });
      return;
    }
    latest[time.kind] = time;
  }
};

export const timeRules: readonly ScenarioRule[] = [clockIsWithinYears, timelineIsInOrder];
