import type { PathId } from "../rules/outcomes.js";
import type { ChooseVariant, RunConditions, VariedPoint } from "../sandbox/conditions.js";
import { type ActiveFault, activateFaults, fireFault } from "../sandbox/faults.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { Registry } from "../sandbox/keys.js";
import type { ConditionedRun, SandboxState } from "../sandbox/sandbox.js";
import type { ApiCall } from "./call.js";
import { startExperiment } from "./experiment.js";
import { breakPromise, brokenPromisesOf } from "./promises.js";
import { endpointsOf } from "./routes.js";
import { unvariedAssumptions } from "./variation/vary.js";

/** Numbers the sandboxes of a run, for each key by their first request with it; `claim` returns the next number of a key. */
export type ClaimPlace = (key: string) => number;

/** Returns a claim for the sandboxes of one process. */
function claimHere(): ClaimPlace {
  const next = new Map<string, number>();
  return (key) => {
    const nth = next.get(key) ?? 0;
    next.set(key, nth + 1);
    return nth;
  };
}

/** Starts to apply the conditions of a run, and to describe what its sandboxes show. */
export function conditionedRun(conditions: RunConditions, claim: ClaimPlace = claimHere()): ConditionedRun {
  const placeIn = createPlaces(claim);
  const chosen = chooser(conditions);
  const faultsIn = createFaults(conditions.faults ?? []);
  const pointIds = new Set<string>();
  let points: VariedPoint[] = [];
  let hit: PathId | undefined;
  const experiment = conditions.experiment && startExperiment(conditions.experiment, placeIn);
  const broken = (sandbox: SandboxState, call: ApiCall, result: CallResult) => {
    const promise = brokenPromisesOf(endpointsOf(sandbox)).find(({ id }) => id === conditions.promise);
    return promise && breakPromise(promise, sandbox, call, result);
  };
  const replace = conditions.promise === undefined ? experiment?.replace : broken;
  return {
    conditions,
    choose(row, usual, status) {
      const point = { row, variant: chosen(row, usual, status), status };
      const id = `${row} ${status} ${point.variant}`;
      if (!pointIds.has(id)) points.push(point);
      pointIds.add(id);
      return point.variant;
    },
    fireFault(sandbox, requestNumber, facts) {
      const fired = fireFault(faultsIn(sandbox), requestNumber, facts);
      hit = fired && facts.expectedPath();
      return fired;
    },
    ...(replace && {
      end(sandbox, call: ApiCall, result) {
        const replacement = call.request.fromStory ? undefined : replace(sandbox, call, result);
        if (replacement !== undefined) hit = result.pathId;
        return replacement ?? result;
      },
    }),
    observe(sandbox, { key, fingerprint }) {
      const observation = {
        nth: placeIn(key ?? fingerprint ?? "", sandbox.registry),
        points,
        scenario: sandbox.name,
        hit,
        unvaried: unvariedAssumptions(sandbox),
        tried: experiment?.takeTime(),
      };
      [points, hit] = [[], undefined];
      return observation;
    },
  };
}

function chooser({ points, isEverywhere }: RunConditions): ChooseVariant {
  if (points === undefined) return (_row, usual) => usual;
  return (row, usual, status) => {
    const fitting = points.filter((point) => point.row === row && point.status === status);
    const same = fitting.find(({ variant }) => variant === usual);
    // The order of requests makes no difference for a point that applies everywhere.
    return (same ?? (isEverywhere ? fitting[0] : undefined))?.variant ?? "";
  };
}

/** Starts the faults of a run anew with each start of a scenario. */
function createFaults(faults: NonNullable<RunConditions["faults"]>) {
  const started = new WeakMap<Registry, ActiveFault[]>();
  return ({ registry, seed, startedAt }: SandboxState): readonly ActiveFault[] => {
    const active = started.get(registry) ?? activateFaults(faults, seed, startedAt);
    started.set(registry, active);
    return active;
  };
}

function createPlaces(claim: ClaimPlace) {
  const places = new WeakMap<Registry, Map<string, number>>();
  return (key: string, registry: Registry): number => {
    const nthByKey = places.get(registry) ?? new Map<string, number>();
    places.set(registry, nthByKey);
    const nth = nthByKey.get(key) ?? claim(key);
    nthByKey.set(key, nth);
    return nth;
  };
}
