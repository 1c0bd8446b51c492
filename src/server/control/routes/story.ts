import { checkResults } from "../../../api/request-details.js";
import { presentNextStep } from "../../../api/story/run-story.js";
import { stepView, summarizeStep } from "../../../api/story/summarize.js";
import { SandboxError } from "../../../rules/errors.js";
import type { SandboxState } from "../../../sandbox/sandbox-state.js";
import { defaultKeyRef } from "../../../sandbox/secrets.js";
import { actionRefs, stepKind } from "../../../scenario/actions.js";
import { isReserved } from "../../../scenario/format/fields.js";
import { quoteFile } from "../../../schema/words.js";
import type { Route } from "../route.js";
import { controlRoute, dataResult } from "../route.js";

export const storyRoutes: readonly Route[] = [
  controlRoute("GET /story", {
    summary:
      "The story: its steps, the next one, the result of the last one; `changed`: whether a user has changed the sandbox",
    run({ sandbox }) {
      const { name = null, description = null } = sandbox.scenario;
      const { last = null } = sandbox.story;
      return dataResult({
        ...storyProgress(sandbox),
        changed: sandbox.isChangedByUser,
        name,
        description,
        keys: keysOfStory(sandbox),
        outline: outlineOf(sandbox),
        // Only a request has checks.
        last: last && { ...stepView(last), checks: last.response && checkResults(last.response.outcome) },
      });
    },
  }),
  controlRoute("POST /story/next", {
    summary: "Runs the next step of the story; `step` is null after the last one. POST /reset restarts it",
    showsSecret: true,
    run({ sandbox }) {
      if (sandbox.story.steps.length === 0) {
        const message = `The scenario ${quoteFile(sandbox.name)} has no story. Add one under story in its file, or start a bundled scenario.`;
        throw new SandboxError("not_found", message);
      }
      const played = presentNextStep(sandbox);
      const step = played === undefined ? null : stepView(played);
      const { steps, done, over } = storyProgress(sandbox);
      return dataResult({ step, steps, done, over });
    },
  }),
];

/** How far the story is, and its next step. The members have the names of `verify --json`. */
function storyProgress({ story }: SandboxState) {
  const steps = story.steps.length;
  const done = story.next;
  const step = story.steps[done];
  if (step === undefined) return { steps, done, over: true, next: null };

  const next = { number: done + 1, kind: stepKind(step), say: step.say ?? null };
  return { steps, done, over: false, next };
}

/** The refs of the keys that the steps send, change or create, each once. A key that is created without a ref is not among them. */
export function keysOfStory({ story, scenario }: SandboxState): readonly string[] {
  const refs = new Set<string>();
  for (const step of story.steps) {
    const { key, newKey } = actionRefs(step);
    const sent = step.request && (step.request.key ?? defaultKeyRef(scenario));
    for (const ref of [sent, key, newKey]) {
      if (ref !== undefined && !isReserved(ref)) refs.add(ref);
    }
  }
  return [...refs];
}

/** All steps of the story, in few words. */
function outlineOf({ story }: SandboxState) {
  const outline = [];
  for (const [index, step] of story.steps.entries()) {
    // `null` if it has not run, and for a success of a step that expects nothing.
    let asExpected = story.results[index] ?? null;
    if (asExpected && step.expect === undefined) asExpected = null;
    outline.push({
      number: index + 1,
      kind: stepKind(step),
      say: step.say ?? null,
      // A step with narration is listed by that.
      text: step.say === undefined ? summarizeStep(step) : null,
      done: index < story.next,
      asExpected,
    });
  }
  return outline;
}
