import { mePath } from "../../domain/outcomes.js";
import { redactKeys } from "../../domain/redact.js";
import { parseDuration } from "../../scenario/format/time.js";
import { advanceClock } from "../operations/change-world.js";
import { type Performed, performAction } from "../operations/perform-action.js";
import { unknownSecret } from "../scenario-keys.js";
import { defaultKeyRef, scenarioSecret } from "../secrets.js";
import { viewClock } from "../views.js";
import type { World } from "../world.js";
import { actionDifferences, answerDifferences, type Difference } from "./difference.js";
import { fillIn } from "./fill-in.js";
import { untoldSecret } from "./step-details.js";
import {
  kindOf,
  type SendStoryRequest,
  type SentRequest,
  type StoryAnswer,
  type StoryRequest,
  type StoryStep,
  type ToldStep,
} from "./story.js";

/** What a client sends that has mistaken something else for its key. */
const malformedKey = "not-an-api-key";

/**
 * Tells the next step of the world's story: does what it says, and compares what comes of it with what it expects.
 *
 * Answers `undefined` when the story is over. Sends what `send` sends; where that answers at once, so does this, so
 * that nothing can come between. Rejects with `unknown_ref` or `secret_not_kept` for a key that cannot be sent.
 */
export async function tellNext(world: World, send: SendStoryRequest): Promise<ToldStep | undefined> {
  const { story } = world;
  const step = story.steps[story.next];
  if (step === undefined) return undefined;
  story.next += 1;
  const number = story.next;
  const kind = kindOf(step);
  let told: Partial<ToldStep> = {};
  if (step.request !== undefined) {
    const answering = exchange(world, step, send);
    told = answering instanceof Promise ? await answering : answering;
  } else if (step.advance !== undefined) advanceClock(world, parseDuration(step.advance) ?? 0);
  else if (kind !== "say") told = act(world, step);
  const whole: ToldStep = { ...withoutOutcome(world, step, number), ...told };
  const performed = whole.performed && untoldSecret(whole.performed);
  world.events.announce({
    type: "story.step",
    step: number,
    of: whole.of,
    kind,
    say: whole.say,
    pathId: whole.answer?.pathId ?? null,
    asExpected: whole.differences.length === 0,
    details: { kind: "story", step, told: { ...whole, performed } },
  });
  return whole;
}

/** A step of which nothing has come, at its place in the story, as it is now. */
export function withoutOutcome(world: World, step: StoryStep, number: number): ToldStep {
  return {
    number,
    of: world.story.steps.length,
    kind: kindOf(step),
    say: step.say ?? null,
    request: null,
    answer: null,
    performed: null,
    now: viewClock(world.clock).now,
    differences: [],
  };
}

function act(world: World, step: StoryStep): { performed: Performed; differences: Difference[] } {
  const performed = performAction(world, step);
  return { performed, differences: actionDifferences(step.expect, performed) };
}

interface Exchanged {
  readonly request: SentRequest;
  readonly answer: StoryAnswer;
  readonly differences: Difference[];
}

function exchange(world: World, step: StoryStep, send: SendStoryRequest): Exchanged | Promise<Exchanged> {
  const { request, shown } = requestOf(world, step.request ?? {});
  const judged = (answer: StoryAnswer): Exchanged => ({
    request: shown,
    answer,
    differences: step.expect === undefined ? [] : answerDifferences(step.expect, answer),
  });
  const sendFrom = (already: number): StoryAnswer | Promise<StoryAnswer> => {
    for (let sent = already + 1; ; sent += 1) {
      const answer = send(request);
      if (answer instanceof Promise) {
        return answer.then((last) => (sent < shown.times ? sendFrom(sent) : last));
      }
      if (sent >= shown.times) return answer;
    }
  };
  const last = sendFrom(0);
  return last instanceof Promise ? last.then(judged) : judged(last);
}

function requestOf(
  world: World,
  given: NonNullable<StoryStep["request"]>,
): { request: StoryRequest; shown: SentRequest } {
  const key = given.key ?? defaultKeyRef(world.scenario) ?? "none";
  const secret = secretFor(world, key);
  const { method = "GET", repeat = 1 } = given;
  const path = fillIn(world, given.path ?? mePath);
  const written = bodyText(given.body);
  const body = written === undefined ? undefined : fillIn(world, written);
  const headers: Record<string, string> = body === undefined ? {} : { "content-type": typeOf(given.body) };
  for (const [name, value] of Object.entries(given.headers ?? {})) headers[name.toLowerCase()] = value;
  const request = { method, path, body };
  return {
    request: { ...request, headers: secret === undefined ? headers : { ...headers, "x-api-key": secret } },
    shown: {
      ...request,
      path: redactKeys(path),
      body: body === undefined ? null : redactKeys(body),
      key,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, redactKeys(value)])),
      times: repeat,
    },
  };
}

function secretFor(world: World, key: string): string | undefined {
  if (key === "none") return undefined;
  if (key === "malformed") return malformedKey;
  return key === "unknown" ? unknownSecret(world.seed) : scenarioSecret(world, key);
}

// As a client sends it that says nothing of its type: a text is a text, whatever stands in it.
function typeOf(body: unknown): string {
  return typeof body === "string" ? "text/plain" : "application/json";
}

function bodyText(body: unknown): string | undefined {
  if (body === undefined || typeof body === "string") return body;
  return JSON.stringify(body);
}
