import type { FaultEffects } from "../rules/fault-effects.js";
import type { ApiOutcomeId } from "../rules/outcomes.js";
import { randomStream } from "../rules/seed.js";
import { isoTime, parseDuration } from "../rules/time.js";
import type { Writable } from "../rules/writable.js";
import { timeFrom } from "../scenario/format/times.js";
import type { Scenario } from "../scenario/scenario.generated.js";

// A fault is read once, when it becomes active, and can be written again as scenarios have it.

type ScenarioFault = NonNullable<Scenario["faults"]>[number];
type WrittenCondition = NonNullable<ScenarioFault["when"]>;
type WrittenEffect = ScenarioFault["then"];

/** A fault as scenarios, the library and the control plane write it, with the refs that it may use. */
export type Fault<KeyRef extends string = string, OrganizationRef extends string = string> = Omit<
  ScenarioFault,
  "when"
> & {
  /** The requests that it affects: each of its members must match. Default: every request. */
  when?: Omit<WrittenCondition, "key" | "organization"> & { key?: KeyRef; organization?: OrganizationRef };
};

/** A condition with its times as epoch milliseconds. */
interface FaultCondition extends Omit<WrittenCondition, "outcome" | "after" | "until"> {
  readonly outcome?: ApiOutcomeId;
  readonly after?: number;
  readonly until?: number;
}

/** A fault of a running sandbox. */
export interface ActiveFault {
  /** As it was written: durations have no start there. */
  readonly definition: Fault;
  readonly when: FaultCondition;
  readonly effect: FaultEffects;
  /** They make its random numbers differ from each other: for whether it fires, and for how long its latency is. */
  readonly salts: { readonly chance: number; readonly latency: number };
  /** The number of matching requests so far: `every` and `requests` choose by it. */
  matched: number;
}

/** Makes faults ready for requests. Their durations count from `start` (epoch milliseconds). */
export function activateFaults(faults: readonly Fault[], seed: number, start: number): ActiveFault[] {
  const active: ActiveFault[] = [];
  for (const [index, definition] of faults.entries()) {
    const random = randomStream(seed, "fault", String(index));
    active.push({
      definition,
      when: readCondition(definition.when ?? {}, start),
      effect: readEffect(definition.then),
      salts: { chance: random(), latency: random() },
      matched: definition.requests_matched ?? 0,
    });
  }
  return active;
}

function readCondition(when: NonNullable<Fault["when"]>, start: number): FaultCondition {
  const { after, until, ...otherConditions } = when;
  const condition: Writable<FaultCondition> = otherConditions;
  if (after !== undefined) condition.after = timeFrom(start, after);
  if (until !== undefined) condition.until = timeFrom(start, until);
  return condition;
}

function readEffect(then: WrittenEffect): FaultEffects {
  const { latency, status, body, retry_after: wait, ...otherEffects } = then;
  const effect: Writable<FaultEffects> = otherEffects;
  if (latency !== undefined) effect.latency = readLatency(latency);
  if (status !== undefined) {
    effect.status = status;
    effect.html = body === "html";
  }
  if (wait !== undefined) effect.retryAfter = readWait(wait);
  return effect;
}

function readLatency(latency: NonNullable<WrittenEffect["latency"]>): NonNullable<FaultEffects["latency"]> {
  if (typeof latency === "string") {
    const always = durationMs(latency);
    return { min: always, max: always };
  }
  if ("median" in latency) {
    return { median: durationMs(latency.median), p99: durationMs(latency.p99) };
  }
  return { min: durationMs(latency.min), max: durationMs(latency.max) };
}

function readWait(wait: NonNullable<WrittenEffect["retry_after"]>): NonNullable<FaultEffects["retryAfter"]> {
  const asDate = typeof wait !== "string";
  const duration = asDate ? wait.date : wait;
  // A header has whole seconds.
  const seconds = Math.ceil(durationMs(duration) / 1000);
  return { seconds, asDate };
}

/** The length of a duration, which the shape of the fault has checked. */
function durationMs(duration: string): number {
  return parseDuration(duration) ?? 0;
}

/** Copies the active faults as scenarios write them: with absolute times, and with the requests that they have counted. */
export function writtenFaults(active: readonly ActiveFault[]): Fault[] {
  return active.map(writtenFault);
}

function writtenFault(fault: ActiveFault): Fault {
  const { when, then, requests_matched, ...rest } = structuredClone(fault.definition);
  const { after, until } = fault.when;
  if (when !== undefined && after !== undefined) when.after = isoTime(after);
  if (when !== undefined && until !== undefined) when.until = isoTime(until);

  const written: Fault = { ...rest, ...(when !== undefined && { when }), then };
  if (choosesByCount(fault)) written.requests_matched = fault.matched;
  return written;
}

/** Whether a fault chooses by its count. */
function choosesByCount({ when }: ActiveFault): boolean {
  return when.every !== undefined || when.requests !== undefined;
}
