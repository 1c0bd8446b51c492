import { coreSender } from "../../api/core-sender.js";
import { snakeCase } from "../../api/snake-case.js";
import { SandboxError } from "../../domain/errors.js";
import { errorCodeOf } from "../../sandbox/story/difference.js";
import { kindOf, type ToldStep } from "../../sandbox/story/story.js";
import { tellNext } from "../../sandbox/story/tell.js";
import type { World } from "../../sandbox/world.js";
import { inData } from "./answer-schemas.js";
import { type ControlCall, controlCall } from "./call.js";

/** The story of the scenario, for a presenter who tells it while others look at the same world. */
export const storyCalls: readonly ControlCall[] = [
  controlCall({
    method: "GET",
    path: "/story",
    summary: "How much of the story is told, and what comes next",
    status: 200,
    answer: inData.one("Story"),
    run: ({ runtime }) => ({ data: storyView(runtime.world()) }),
  }),
  controlCall({
    method: "POST",
    path: "/story/next",
    summary: "Tells the next step of the story; `step` is null when it is over. POST /reset begins it again",
    status: 200,
    answer: inData.told,
    async run({ runtime }) {
      const world = runtime.world();
      requireStory(world);
      const step = await tellNext(world, coreSender(world));
      const { steps, told, over } = storyView(world);
      return { data: { step: step === undefined ? null : stepView(step), steps, told, over } };
    },
  }),
];

// As `verify --json` names it.
function stepView(step: ToldStep) {
  const { answer } = step;
  if (answer === null) return snakeCase(step);
  return snakeCase({ ...step, answer: { ...answer, code: errorCodeOf(answer) } });
}

function storyView({ story: { steps, next } }: World) {
  const step = steps[next];
  return {
    steps: steps.length,
    told: next,
    over: step === undefined,
    next: step === undefined ? null : { number: next + 1, kind: kindOf(step), say: step.say ?? null },
  };
}

function requireStory({ story, name }: World): void {
  if (story.steps.length > 0) return;
  throw new SandboxError(
    "not_found",
    `The scenario ${JSON.stringify(name)} has no story: write one under story: in its file, or start a bundled scenario.`,
  );
}
