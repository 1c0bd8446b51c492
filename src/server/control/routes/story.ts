import { checkResults } from "../../../api/request-details.js";
import { presentNextStep } from "../../../api/story/run-story.js";
import { stepIntent } from "../../../api/story/step-text.js";
import { stepView } from "../../../api/story/step-view.js";
import { kindOf } from "../../../rules/actions.js";
import { SandboxError } from "../../../rules/errors.js";
import { quoteFile } from "../../../rules/schema/words.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import type { PlayedStep, StoryStep } from "../../../sandbox/step-results.js";
import { controlRoute, type Route } from "../route.js";

export const storyRoutes: readonly Route[] = [
  controlRoute("GET /story", {
    summary: "The story: its steps, the next one, and the result of the last one",
    run({ sandbox }) {
      const { last } = sandbox.story;
      return {
        ...storyView(sandbox),
        name: sandbox.scenario.name ?? null,
        description: sandbox.scenario.description ?? null,
        outline: outlineOf(sandbox),
        last: last === undefined ? null : { ...stepView(last), checks: checksOf(last) },
      };
    },
  }),
  controlRoute("POST /story/next", {
    summary: "Runs the next step of the story; `step` is null after the last one. POST /reset restarts it",
    run({ sandbox }) {
      if (sandbox.story.steps.length === 0) {
        const message = `The scenario ${quoteFile(sandbox.name)} has no story. Add one under story in its file, or start a bundled scenario.`;
        throw new SandboxError("not_found", message);
      }
      const step = presentNextStep(sandbox);
      const { next: _, ...progress } = storyView(sandbox);
      return { step: step === undefined ? null : stepView(step), ...progress };
    },
  }),
];

function checksOf({ response }: PlayedStep) {
  return response && checkResults(response.outcome);
}

// Its members have the names of `verify --json`.
function storyView({ story: { steps, next } }: SandboxState) {
  const step = steps[next];
  return {
    steps: steps.length,
    done: next,
    over: step === undefined,
    next: step === undefined ? null : { number: next + 1, kind: kindOf(step), say: step.say ?? null },
  };
}

function outlineOf({ story: { steps, next, results } }: SandboxState) {
  return steps.map((step, index) => ({
    number: index + 1,
    kind: kindOf(step),
    say: step.say ?? null,
    text: step.say === undefined ? stepIntent(step) : null,
    done: index < next,
    asExpected: asExpected(step, results.get(index)),
  }));
}

// Of a step that expects nothing, only a failure is shown.
function asExpected({ expect }: StoryStep, wasExpected: boolean | undefined): boolean | null {
  return wasExpected === undefined || (wasExpected && expect === undefined) ? null : wasExpected;
}
