import type { LoadedScenario } from "../node/files/load-scenario.js";
import { createRuntime } from "../sandbox/runtime.js";
import type { Call } from "./command.js";
import { openNamed } from "./open-scenario.js";
import { problemsOf, type StepProblem } from "./step-places.js";
import { isAsExpected, type TellingStep, tellStep } from "./tell-step.js";

/** What became of a story that was told as a test. */
export interface StoryVerdict {
  readonly name: string;
  readonly passed: boolean;
  readonly seed: number;
  /** What the clock showed at the start; ISO 8601. */
  readonly startedAt: string;
  /** Whether it starts at that time whenever it is told. */
  readonly isPinned: boolean;
  /** Those that were told; the last one is the one that failed. */
  readonly steps: readonly TellingStep[];
  readonly stepCount: number;
  readonly problems: readonly StepProblem[];
  readonly durationMs: number;
}

/**
 * Tells the story of a scenario as a test, in a world of its own whose clock stands still until the story moves it.
 *
 * Ends with the first step that is not as expected: the later ones hang on it.
 */
export async function verdictOn(loaded: LoadedScenario, { flags, io }: Call): Promise<StoryVerdict> {
  const runtime = createRuntime(() => openNamed(loaded, { ...flags, frozen: true }));
  const { platform, clock, seed, story } = runtime.world();
  const started = platform.stopwatch();
  const startedAt = new Date(clock.now()).toISOString();
  const steps: TellingStep[] = [];
  let problems: readonly StepProblem[] = [];
  for (let told = await tellStep(runtime); told !== undefined; told = await tellStep(runtime)) {
    steps.push(told);
    if (isAsExpected(told)) continue;
    problems = await problemsOf(told, loaded, io.cwd);
    break;
  }
  return {
    name: loaded.name,
    // Nothing is proved by a story that is not there.
    passed: story.steps.length > 0 && problems.length === 0,
    seed,
    startedAt,
    isPinned: flags.now !== undefined || loaded.scenario.clock?.now !== undefined,
    steps,
    stepCount: story.steps.length,
    problems,
    durationMs: platform.stopwatch() - started,
  };
}
