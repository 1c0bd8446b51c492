import { SandboxError } from "../../domain/errors.js";
import { mePath } from "../../domain/outcomes.js";
import { redactKeys } from "../../domain/redact.js";
import { storyPlaceholder } from "../../scenario/format/ref.js";
import { parseDuration } from "../../scenario/format/time.js";
import { performAction } from "../operations/operations.js";
import { advanceClock } from "../operations/world.js";
import { attestationsOf } from "../preview/consent-views.js";
import { unknownSecret } from "../scenario-keys.js";
import { defaultKeyRef, scenarioSecret } from "../secrets.js";
import { viewClock } from "../views.js";
import type { World } from "../world.js";
import { actionDifferences, answerDifferences } from "./differences.js";
import { settleTimeline } from "./settle-timeline.js";
import {
  type Difference,
  isAsExpected,
  kindOf,
  type SendStoryRequest,
  type SentRequest,
  type StepResult,
  type StoryAnswer,
  type StoryRequest,
  type StoryStep,
  type TimelineResult,
} from "./story.js";

/** Sent for the key `malformed`: something that a client has mistaken for its key. */
const malformedKey = "not-an-api-key";

/**
 * Runs the next step of the world's story and compares what comes of it with what the step expects; `undefined` when
 * the story is over.
 *
 * If `send` answers at once, the whole step runs at once, so that nothing can come between. Rejects with
 * `unknown_ref` or `secret_not_kept` for a key that cannot be sent, and where the clock goes no further.
 */
export async function runNextStep(world: World, send: SendStoryRequest): Promise<StepResult | undefined> {
  const { result, error } = await attemptNext(world, send);
  if (error !== undefined) throw error;
  return result;
}

/** Runs the next step as `runNextStep` does; a step that the sandbox cannot run is a result with a failure. */
export async function tryNextStep(world: World, send: SendStoryRequest): Promise<StepResult | undefined> {
  return (await attemptNext(world, send)).result;
}

/**
 * Runs the whole story as a test: ends with the first step that is not as expected, since the later ones hang on it.
 */
export async function runStory(world: World, send: SendStoryRequest): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (;;) {
    const result = await tryNextStep(world, send);
    if (result === undefined) return results;
    results.push(result);
    if (!isAsExpected(result)) return results;
  }
}

interface Attempt {
  readonly result?: StepResult;
  /** Why the step could not run. */
  readonly error?: SandboxError;
}

async function attemptNext(world: World, send: SendStoryRequest): Promise<Attempt> {
  const { story, events } = world;
  const timeline: TimelineResult[] = [];
  const unsubscribe = events.subscribe((event) => {
    if (event.type === "timeline.step") timeline.push(event.result);
  });
  try {
    settleTimeline(world);
    const step = story.steps[story.next];
    if (step === undefined) return {};
    story.next += 1;
    const place = { step, number: story.next, of: story.steps.length };
    try {
      const running = outcomeOf(world, step, send);
      const outcome = running instanceof Promise ? await running : running;
      const result = resultOf(place, outcome, timeline, world);
      const performed = result.performed && { ...result.performed, secret: null };
      events.announce({ type: "story.step", result: { ...result, performed } });
      return { result };
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      const failure = { code: error.code, message: error.message };
      return { result: resultOf(place, { failure }, timeline, world), error };
    }
  } finally {
    unsubscribe();
  }
}

type Outcome = Partial<Pick<StepResult, "request" | "answer" | "performed" | "failure" | "differences">>;

function outcomeOf(world: World, step: StoryStep, send: SendStoryRequest): Outcome | Promise<Outcome> {
  if (step.request !== undefined) return exchange(world, step, send);
  if (step.advance !== undefined) advanceClock(world, parseDuration(step.advance) ?? 0);
  else if (kindOf(step) !== "say") {
    const performed = performAction(world, step);
    return { performed, differences: actionDifferences(step.expect, performed) };
  }
  return {};
}

function resultOf(
  place: Pick<StepResult, "step" | "number" | "of">,
  { differences = [], ...outcome }: Outcome,
  timeline: readonly TimelineResult[],
  { clock }: World,
): StepResult {
  const { step } = place;
  return {
    ...place,
    kind: kindOf(step),
    say: step.say ?? null,
    request: null,
    answer: null,
    performed: null,
    failure: null,
    ...outcome,
    timeline,
    now: viewClock(clock).now,
    differences: [...differences, ...timeline.flatMap(timelineDifferences)],
  };
}

function timelineDifferences({ index, differences }: TimelineResult): Difference[] {
  return differences.map((one) => ({ ...one, at: `timeline[${index}].${one.at}` }));
}

function exchange(world: World, step: StoryStep, send: SendStoryRequest): Outcome | Promise<Outcome> {
  const { request, shown } = requestOf(world, step.request ?? {});
  const judged = (answer: StoryAnswer): Outcome => ({
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

/** The key that a request sends for a ref, `none`, `malformed` or `unknown`; throws `unknown_ref` for another ref. */
export function secretFor(world: World, key: string): string | undefined {
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

/**
 * The text with ids for `{farmer.0}` (by index), `{consent.1}` and `{attestation.1}` (the first one that
 * there is). Without the preview it stays as it is.
 *
 * Throws `unknown_ref` for what is not there.
 */
function fillIn(world: World, text: string): string {
  if (!world.preview) return text;
  return text.replace(storyPlaceholder, (whole, kind: string, digits: string) => {
    const id = idOf(world, kind, Number(digits));
    if (id !== undefined) return id;
    const there = countOf(world, kind);
    throw new SandboxError(
      "unknown_ref",
      `Failed to fill in ${whole}: ${there === 0 ? `there is no ${kind}` : `the last ${kind} is {${kind}.${kind === "farmer" ? there - 1 : there}}`}.`,
      { placeholder: whole },
    );
  });
}

function idOf(world: World, kind: string, number: number): string | undefined {
  if (kind === "farmer") return number < world.farmers.count ? world.farmers.idOf(number) : undefined;
  if (kind === "consent") return world.consents.all[number - 1]?.id;
  return attestationsNow(world)[number - 1]?.id;
}

function countOf(world: World, kind: string): number {
  if (kind === "farmer") return world.farmers.count;
  return kind === "consent" ? world.consents.all.length : attestationsNow(world).length;
}

function attestationsNow(world: World) {
  return attestationsOf(world.consents.all, world.clock.now());
}
