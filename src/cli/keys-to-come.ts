import type { Environment } from "../domain/api-key.js";
import { alignColumns } from "../report/plain-text.js";
import { isoOf } from "../sandbox/clock.js";
import type { Action } from "../sandbox/operations/perform-action.js";
import { deriveSecret, describedKeys } from "../sandbox/scenario-keys.js";
import type { World } from "../sandbox/world.js";
import { freeRefIn, refOfName } from "../scenario/format/ref.js";
import type { Palette } from "./palette.js";
import { shortTime } from "./step-line.js";

/** A key that a scenario does not start with, and that a step of it will make. */
interface KeyToCome {
  readonly ref: string;
  /** Which step: `timeline, at 2026-03-02T09:10:00Z`. */
  readonly madeBy: string;
  readonly secret: string;
}

/** The keys that the timeline and the story will make, unless their steps are refused, below a table; nothing without any. */
export function keysToComeLines(world: World, palette: Palette): string[] {
  const keys = keysToCome(world);
  if (keys.length === 0) return [];
  const rows = keys.map(({ ref, madeBy, secret }) => [ref, madeBy, secret]);
  const table = alignColumns([["KEY", "MADE BY", "SECRET"], ...rows], (text, index) =>
    index === 0 ? palette.dim(text) : text,
  );
  return ["", "Not there yet:", ...table];
}

function keysToCome({ scenario, seed, timeline, story }: World): KeyToCome[] {
  const there = new Map(describedKeys(scenario).map(({ ref, given }) => [ref, given.environment]));
  const steps: { step: Step; madeBy: string }[] = [
    ...timeline.steps.map(({ at, step }) => ({ step, madeBy: `timeline, at ${shortTime(isoOf(at))}` })),
    ...story.steps.map((step, index) => ({ step, madeBy: `story, step ${index + 1}` })),
  ];
  return steps.flatMap(({ step, madeBy }) => {
    // One that has to be refused makes none.
    const made = step.expect?.error === undefined ? keyMadeBy(step, there) : undefined;
    if (made?.environment === undefined || there.has(made.ref)) return [];
    const { ref, environment } = made;
    there.set(ref, environment);
    return [{ ref, madeBy, secret: deriveSecret(seed, { ref, environment, legacy: false }) }];
  });
}

interface Step extends Action {
  readonly expect?: { readonly error?: string };
}

function keyMadeBy({ create_key: created, rotate }: Action, there: ReadonlyMap<string, Environment>) {
  const isTaken = (ref: string) => there.has(ref);
  if (created !== undefined) {
    const ref = created.ref ?? freeRefIn(isTaken, refOfName(created.name));
    return { ref, environment: created.environment };
  }
  if (rotate === undefined) return undefined;
  const ref = rotate.as ?? freeRefIn(isTaken, rotate.key);
  return { ref, environment: there.get(rotate.key) };
}
