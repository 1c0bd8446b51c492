import { z } from "zod/mini";
import { refusalCodes } from "../domain/errors.js";
import { outcomes, type PathId } from "../domain/outcomes.js";
import { actionFields } from "./action-schema.js";
import { parseDuration } from "./duration.js";
import { choice, count, duration, pattern, timeOrDuration } from "./fields.js";
import { maximumRefLength, refPattern } from "./ref.js";
import { headerNames, headerValues, methods, paths } from "./request-slips.js";

const mostSteps = 1000;
const mostRepeats = 10_000;
const longestNarration = 2000;

const pathIds = outcomes.map(({ path }) => path) as [PathId, ...PathId[]];
const headerName = z.string().check(z.regex(headerNames), z.describe("The name of a header."));

// Spelled out, so that the types made from it take every JSON value.
const anything = () =>
  z.union([
    z.string(),
    z.number(),
    z.boolean(),
    z.null(),
    z.array(z.unknown()),
    z.record(z.string(), z.unknown()),
  ]);

const request = z
  .strictObject({
    key: z.optional(
      pattern(
        "ref",
        refPattern,
        "The ref of the key to send, or none (no key), malformed, or unknown (a key nobody holds). Default: the default key.",
      ).check(z.maxLength(maximumRefLength)),
    ),
    method: z.optional(pattern("method", methods, "The method, in upper case. Default: GET.")),
    path: z.optional(
      pattern("path", paths, "The path, and a query if there is one. Default: /v1/relying-party/me."),
    ),
    headers: z.optional(
      z
        .record(headerName, pattern("header_value", headerValues, "The value of a header."))
        .check(z.describe("More headers. The key goes into key instead.")),
    ),
    body: z.optional(anything().check(z.describe("A body: a text is sent as it is, all else as JSON."))),
    repeat: z.optional(
      count(
        "How many times to send the request, one after the other; expect is about the last answer. Default: 1.",
      ).check(z.minimum(1), z.maximum(mostRepeats)),
    ),
  })
  .check(z.describe("A client sends a request to the API."));

const expect = z
  .strictObject({
    status: z.optional(count("The status of the answer.")),
    code: z.optional(z.nullable(z.string()).check(z.describe("error.code of the answer; null for none."))),
    path: z.optional(choice(pathIds, "The path on which the request ends.")),
    headers: z.optional(
      z
        .record(headerName, z.union([z.string(), z.boolean()]))
        .check(z.describe("Headers of the answer: a value, true (it is there) or false (it is not).")),
    ),
    body: z.optional(
      anything().check(
        z.describe("What the body holds: of mappings the members that are named, everything else exactly."),
      ),
    ),
    error: z.optional(choice(refusalCodes, "After an action: the code with which it is refused.")),
  })
  .check(z.describe("What has to come of the step."));

/** The shape of a timeline. What its steps say of each other is checked in `timeline-rules.ts`. */
export const timelineSchema = z
  .array(
    z
      .strictObject({
        at: timeOrDuration("When it happens."),
        ...actionFields,
        expect: z.optional(
          z
            .strictObject({ error: choice(refusalCodes, "The code with which the action is refused.") })
            .check(z.describe("What has to come of the action. Default: anything; a refusal stops nothing.")),
        ),
      })
      .check(z.describe("One thing that happens, and when.")),
  )
  .check(z.maxLength(mostSteps), z.describe("What happens by itself as the clock passes, in order."));

/** The shape of a story. What its steps say of each other is checked in `story-rules.ts`. */
export const storySchema = z
  .array(
    z
      .strictObject({
        say: z.optional(
          z
            .string()
            .check(z.minLength(1), z.maxLength(longestNarration), z.describe("What the narrator says.")),
        ),
        request: z.optional(request),
        ...actionFields,
        advance: z.optional(
          duration("Time passes.").check(z.refine((value) => (parseDuration(value) ?? -1) > 0)),
        ),
        expect: z.optional(expect),
      })
      .check(z.describe("A step does one thing: say, request, advance or an action.")),
  )
  .check(
    z.maxLength(mostSteps),
    z.describe("A script to tell, step by step: what play shows and verify proves."),
  );
