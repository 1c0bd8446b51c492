import { variationTable } from "../api/variation/table.js";
import { unvariedAssumptions } from "../api/variation/vary.js";
import { isIdempotent } from "../rules/fault-effects.js";
import { isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { type ActiveFault, activateFaults, fireFault } from "../sandbox/faults.js";
import type { VariedPoint } from "../sandbox/journal/counts.js";
import type { ChooseVariant } from "../sandbox/profile.js";
import type { Registry } from "../sandbox/registry.js";
import type { ConditionedRun, SandboxState } from "../sandbox/sandbox.js";
import type { RowChoice, RunConditions } from "./conditions.js";
import { Rejections } from "./rejections.js";
import { type ReplaceResult, startAnswering } from "./wrong-answers.js";

/** Returns whether it is the first claim of this name in the whole run. */
type ClaimOnce = (name: string) => boolean;

/** Returns a claim for the sandboxes of one process. */
function claimHere(): ClaimOnce {
  const claimed = new Set<string>();
  return (name) => !claimed.has(name) && claimed.add(name).size > 0;
}

/** Starts to apply the conditions of a run, and to describe what its sandboxes show. */
export function conditionedRun(conditions: RunConditions, claim: ClaimOnce = claimHere()): ConditionedRun {
  const { rows, answer, resend } = conditions;
  const { choose, next } = chooser(conditions);
  const fire = startFaults(conditions, claim);
  let points: VariedPoint[] = [];
  let hit: OutcomeId | undefined;
  let rewardedAfterMs: number | undefined;
  const rejections =
    resend &&
    new Rejections(resend, (afterMs) => {
      rewardedAfterMs = afterMs;
    });
  const reject: ReplaceResult | undefined = rejections && ((...call) => rejections.replace(...call));
  /** What a hook returns of a client's call, whose own path is kept as the one that was hit. */
  const replacing =
    (replace: ReplaceResult): ReplaceResult =>
    (sandbox, call, result) => {
      const replacement = call.request.fromStory ? undefined : replace(sandbox, call, result);
      if (replacement !== undefined) hit = result.outcome;
      return replacement;
    };
  const isOutage = resend?.outcome === "fault.status";
  return {
    profile: conditions.profile,
    hidesCauses: (answer ?? resend) !== undefined,
    choose(row, usual, status) {
      const variant = choose(row, usual, status);
      points.push({ row, variant, status });
      return variant;
    },
    fireFault(sandbox, call, facts) {
      const fired = fire(sandbox, call, facts);
      hit = fired && facts.expectedOutcome();
      return fired;
    },
    ...(reject && isOutage && { failInstead: replacing(reject) }),
    ...(((reject && !isOutage) || answer) && {
      replaceResult: replacing(reject ?? startAnswering(answer, claim)),
    }),
    observe(sandbox) {
      const unvaried = rows === undefined ? unvariedAssumptions(sandbox) : [];
      const reward = rewardedAfterMs !== undefined && { rewardedAfterMs };
      const observation = { points, scenario: sandbox.name, hit, unvaried, ...reward };
      next();
      [points, hit, rewardedAfterMs] = [[], undefined, undefined];
      return observation;
    },
  };
}

/** Chooses the variant of a row for each response. `next`: called after each response. */
function chooser({ rows, mixed }: RunConditions): {
  readonly choose: ChooseVariant;
  readonly next: () => void;
} {
  const responses = new Map<number, number>();
  let current = 0;
  const choose: ChooseVariant = (row, usual, status) => {
    current = status;
    const isWanted = (one: RowChoice) => one.row === row && (one.status ?? status) === status;
    if (rows?.some(isWanted) === false) return "";
    // A 401 must not depend on the requests before it (R14).
    if (!mixed || status === 401) return usual;
    const variants = variationTable.find(({ id }) => id === row)?.variants.map(({ id }) => id) ?? [usual];
    const at = variants.indexOf(usual) + (responses.get(status) ?? 0);
    return variants[at % variants.length] as string;
  };
  return { choose, next: () => void responses.set(current, (responses.get(current) ?? 0) + 1) };
}

/** Starts the faults of a run, which count their requests again with each start of a scenario. */
function startFaults({ faults = [], once }: RunConditions, claim: ClaimOnce): ConditionedRun["fireFault"] {
  const started = new WeakMap<Registry, ActiveFault[]>();
  const faultsIn = ({ registry, seed, startedAt }: SandboxState): readonly ActiveFault[] => {
    const active = started.get(registry) ?? activateFaults(faults, seed, startedAt);
    started.set(registry, active);
    return active;
  };
  return (sandbox, call, facts) => {
    const isWanted = () => {
      if (once === undefined) return true;
      const outcome = facts.expectedOutcome();
      const isMeant = once.outcome === undefined ? isSuccess(outcome) : outcome === once.outcome;
      return isMeant && isIdempotent(call.request.method) && claim("fault");
    };
    return faults.length > 0 && isWanted() ? fireFault(faultsIn(sandbox), call.number, facts) : undefined;
  };
}
