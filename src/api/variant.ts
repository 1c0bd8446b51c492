import type { CallResult } from "../sandbox/journal/exchange.js";
import type { Registry } from "../sandbox/keys.js";
import type { ActiveVariant, SandboxState } from "../sandbox/sandbox.js";
import type { ChooseVariant, Variant, VariedPoint } from "../sandbox/variant.js";
import type { ApiCall } from "./call.js";
import { startExperiment } from "./experiment.js";
import { breakPromise, brokenPromisesOf } from "./promises.js";

import { endpointsOf } from "./routes.js";

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

/** Starts to apply a variant, and to describe what its sandboxes show. */
export function activateVariant(given: Variant, claim: ClaimPlace = claimHere()): ActiveVariant {
  const placeIn = createPlaces(claim);
  const chosen = chooser(given);
  const known = new Set<string>();
  let points: VariedPoint[] = [];
  let isReplaced = false;
  const experiment = given.experiment && startExperiment(given.experiment, placeIn);
  const broken = (sandbox: SandboxState, call: ApiCall, result: CallResult) => {
    const promise = brokenPromisesOf(endpointsOf(sandbox)).find(({ id }) => id === given.promise);
    return promise && breakPromise(promise, sandbox, call, result);
  };
  const replace = given.promise === undefined ? experiment?.replace : broken;
  return {
    given,
    choose(row, usual, status) {
      const one = { row, variant: chosen(row, usual, status), status };
      const id = `${row} ${status} ${one.variant}`;
      if (!known.has(id)) points.push(one);
      known.add(id);
      return one.variant;
    },
    ...(replace && {
      end(sandbox, call: ApiCall, result) {
        const other = call.request.fromStory ? undefined : replace(sandbox, call, result);
        isReplaced = other !== undefined;
        return other ?? result;
      },
    }),
    observe(sandbox, { key, fingerprint, fault }) {
      const hit = ({ given, matched }: SandboxState["faults"][number]) =>
        given.when?.path_id !== undefined && matched > 0;
      const seen = {
        nth: placeIn(key ?? fingerprint ?? "", sandbox.registry),
        points,
        scenario: sandbox.name,
        suspect: fault === null ? undefined : sandbox.faults.find(hit)?.when.pathId,
        isReplaced,
        tried: experiment?.takeTime(),
      };
      [points, isReplaced] = [[], false];
      return seen;
    },
  };
}

function chooser({ points, isEverywhere }: Variant): ChooseVariant {
  if (points === undefined) return (_row, usual) => usual;
  return (row, usual, status) => {
    const fitting = points.filter((point) => point.row === row && point.status === status);
    const same = fitting.find(({ variant }) => variant === usual);
    // The order of requests makes no difference for a point that applies everywhere.
    return (same ?? (isEverywhere ? fitting[0] : undefined))?.variant ?? "";
  };
}

function createPlaces(claim: ClaimPlace) {
  const places = new WeakMap<Registry, Map<string, number>>();
  return (key: string, registry: Registry): number => {
    const known = places.get(registry) ?? new Map<string, number>();
    places.set(registry, known);
    const nth = known.get(key) ?? claim(key);
    known.set(key, nth);
    return nth;
  };
}
