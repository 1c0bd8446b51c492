import { actionErrorCodes } from "../../rules/errors.js";
import { outcomeShape } from "../../rules/outcomes.js";
import * as s from "../../schema/shape.js";
import { actionNames, stepKinds } from "../actions.js";
import { actionFields } from "./action-shapes.js";
import { refOf } from "./refs.js";
import { headerName, requestFields } from "./request-shapes.js";
import { scenarioLimits } from "./scenario-limits.js";
import { positiveDuration, timeOrDuration } from "./times.js";

// The steps of a timeline and of a story: each has one action, or one of the other kinds of a story's steps.

const maxRequestRepeats = 10_000;

const storyRequestFields = s.mapping({
  key: s.optional(refOf("key")),
  ...requestFields,
  repeat: s.optional(s.integer({ min: 1, max: maxRequestRepeats })),
});

/** An error code is a word: `404` is a status. */
const statusHint = (text: string) => (/^[1-5]\d\d$/.test(text) ? `write status: ${text}` : undefined);

const expectedResult = s.mapping({
  status: s.optional(s.integer()),
  code: s.optional(s.orNull(s.text({ hint: statusHint }))),
  outcome: s.optional(outcomeShape()),
  headers: s.optional(s.record(s.either(s.text(), s.flag()), headerName)),
  body: s.optional(s.anything()),
  error: s.optional(s.choice(actionErrorCodes)),
});

export const timelineSchema = s.list(
  s.needing(
    actionNames,
    s.mapping({
      at: timeOrDuration(),
      ...actionFields,
      expect: s.optional(s.mapping({ error: s.choice(actionErrorCodes) })),
    }),
  ),
  { max: scenarioLimits.steps },
);

const longestNarration = 2000;

export const storySchema = s.list(
  s.needing(
    stepKinds,
    s.mapping({
      after: s.optional(positiveDuration()),
      say: s.optional(s.text({ min: 1, max: longestNarration, code: "out_of_range" })),
      request: s.optional(storyRequestFields),
      ...actionFields,
      advance: s.optional(positiveDuration()),
      expect: s.optional(expectedResult),
    }),
  ),
  { max: scenarioLimits.steps },
);
