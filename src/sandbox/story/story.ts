import type { FaultPathId, PathId } from "../../domain/outcomes.js";
import { type StepKind, stepKinds } from "../../domain/steps.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { Performed } from "../operations/perform-action.js";
import type { Difference } from "./difference.js";

/** A step of a story, as scenarios write it. */
export type StoryStep = NonNullable<Scenario["story"]>[number];

/** The story of a world, and how much of it is told. */
export interface Story {
  readonly steps: readonly StoryStep[];
  /** The place of the next step in `steps`; their number when the story is over. */
  next: number;
}

/** A request of a story, ready to be sent. */
export interface StoryRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What came back. */
export interface StoryAnswer {
  /** 0 when there was no answer. */
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly pathId: PathId;
  readonly fault: FaultPathId | null;
}

/** Sends a request to the API of the world, and answers with what came back. */
export type SendStoryRequest = (request: StoryRequest) => StoryAnswer | Promise<StoryAnswer>;

/** A request as it is shown: of the key its ref, or `none`, `malformed` or `unknown`. */
export interface SentRequest extends Omit<StoryRequest, "headers" | "body"> {
  readonly body: string | null;
  readonly key: string;
  /** Without the key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly times: number;
}

/** A step that was told: what was done, what came of it, and how that differs from what was expected. */
export interface ToldStep {
  /** Its place in the story, counted from 1. */
  readonly number: number;
  readonly of: number;
  readonly kind: StepKind;
  readonly say: string | null;
  readonly request: SentRequest | null;
  /** The last one, of a request that was sent several times. */
  readonly answer: StoryAnswer | null;
  readonly performed: Performed | null;
  /** The clock after the step; ISO 8601. */
  readonly now: string;
  /** Nothing when all was as expected. */
  readonly differences: readonly Difference[];
}

/** The kind of a step. */
export function kindOf(step: StoryStep): StepKind {
  return stepKinds.find((kind) => step[kind] !== undefined) ?? "say";
}
