import { z } from "zod/mini";
import { environments } from "../../domain/api-key.js";
import { refusalCodes } from "../../domain/errors.js";
import { liveAccessStates, organizationStatuses } from "../../domain/organization.js";
import { mePath, outcomes } from "../../domain/outcomes.js";
import type { ActionName } from "../../domain/steps.js";
import { faultsSchema } from "./faults.js";
import {
  choice,
  count,
  duration,
  flag,
  limits,
  pattern,
  ref,
  scope,
  text,
  timeOrDuration,
} from "./fields.js";

const mostSteps = 1000;
const mostRepeats = 10_000;
const longestNarration = 2000;

/** What a key is created with, by a step or over the control plane. */
export const keyCreationFields = {
  organization: ref("The organization that the key is for."),
  environment: choice(environments, "The environment of the key."),
  name: text("The name of the key."),
  // An empty list has an error code of its own (R29), and so has a scope that there is not.
  scopes: z.optional(z.array(scope("A scope name.")).check(z.describe("Default: [attestations:read]."))),
  limits: z.optional(limits),
  ref: z.optional(ref("How to call the key from now on. Default: made from its name.")),
  expires: z.optional(
    timeOrDuration("When the key expires; a duration counts from its creation. Default: never."),
  ),
};

/** What can change about an organization, by a step or over the control plane. */
export const organizationChangeFields = {
  status: z.optional(choice(organizationStatuses, "Whether the organization may use the API.")),
  sandbox_access: z.optional(flag("Whether test keys can be created for it.")),
  live_access: z.optional(choice(liveAccessStates, "Where it stands with live access.")),
};

/** The ref of the key that a rotation makes. */
export const replacementRef = z.optional(
  ref("How to call the replacement. Default: the old ref with the next free number."),
);

const actor = z.optional(
  choice(
    ["administrator", "member"],
    "Who does it in the dashboard; only administrators may (R33). Default: administrator.",
  ),
);

// The same in a timeline and in a story. `rules/steps.ts` checks what a step refers to.
const actionFields = {
  create_key: z.optional(
    z.strictObject({ ...keyCreationFields, actor }).check(z.describe("An administrator creates a key.")),
  ),
  rotate: z.optional(
    z
      .strictObject({
        key: ref("The key to replace."),
        as: replacementRef,
        overlap: z.optional(
          duration("How long the old key goes on working: 0s to 7d; 0s ends it at once. Default: 60m."),
        ),
        actor,
      })
      .check(z.describe("An administrator replaces a key by a new one.")),
  ),
  revoke: z.optional(
    z
      .strictObject({ key: ref("The key to revoke."), actor })
      .check(z.describe("An administrator revokes a key.")),
  ),
  organization: z.optional(
    z
      .strictObject({ ref: ref("The organization."), ...organizationChangeFields })
      .check(z.describe("Something about an organization changes.")),
  ),
  consent: z.optional(
    z
      .strictObject({
        farmer: count("The farmer, by number: 0 is the first one."),
        do: choice(
          ["grant", "reject", "revoke"],
          "What the farmer does about the newest consent request that allows it.",
        ),
        organization: z.optional(ref("The organization that asked. Default: any.")),
      })
      .check(z.describe("A farmer decides about a consent request; needs preview: true.")),
  ),
  faults: z.optional(faultsSchema),
} satisfies Record<ActionName, z.ZodMiniType>;

const methods = /^[A-Z]{1,20}$/;
const method = pattern(
  {
    noun: "a word in upper case",
    example: "GET",
    hint: (given) => (methods.test(given.toUpperCase()) ? `write ${given.toUpperCase()}` : undefined),
  },
  methods,
  "The method, in upper case. Default: GET.",
);

// As it goes over the wire: visible ASCII, all else encoded.
const path = pattern(
  {
    noun: "an encoded path",
    example: `${mePath}?name=value`,
    hint(given) {
      const target = given.replace(/^[A-Z]+ +/, "").replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
      if (target.length > 200 || /\p{Surrogate}/u.test(target)) return undefined;
      const encoded = target.replace(/[^!-~]/gu, encodeURIComponent);
      return `a path begins with / and is encoded: ${encoded.startsWith("/") ? encoded : `/${encoded}`}`;
    },
  },
  /^\/[!-~]{0,1000}$/,
  "The path, and a query if there is one. Default: /v1/relying-party/me.",
);

const headerName = pattern(
  { noun: "the name of a header", example: "X-Trace" },
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
  "The name of a header.",
);
// One line of Latin-1: what Node and browsers send.
const headerValue = pattern(
  { noun: "one line of ASCII or Latin-1", example: "X-Trace: abc" },
  /^[\t\x20-\x7e\x80-\xff]*$/,
  "The value of a header.",
);

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
      ref(
        "The ref of the key to send, or none (no key), malformed, or unknown (a key that does not exist). Default: the default key.",
      ),
    ),
    method: z.optional(method),
    path: z.optional(path),
    headers: z.optional(
      z.record(headerName, headerValue).check(z.describe("More headers. The key goes into key instead.")),
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
    path: z.optional(
      choice(
        outcomes.map(({ path }) => path),
        "The path on which the request ends.",
      ),
    ),
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
  .check(z.describe("The expected outcome of the step."));

/** The shape of a timeline. */
export const timelineSchema = z
  .array(
    z
      .strictObject({
        at: timeOrDuration("When it happens."),
        ...actionFields,
        expect: z.optional(
          z
            .strictObject({ error: choice(refusalCodes, "The code with which the action is refused.") })
            .check(z.describe("The expected outcome of the action. Default: any; a refusal stops nothing.")),
        ),
      })
      .check(z.describe("One thing that happens, and when.")),
  )
  .check(z.maxLength(mostSteps), z.describe("What happens by itself as the clock passes, in order."));

/** The shape of a story. */
export const storySchema = z
  .array(
    z
      .strictObject({
        say: z.optional(text("What the narrator says.", longestNarration)),
        request: z.optional(request),
        ...actionFields,
        advance: z.optional(duration("Time passes.", (length) => length > 0)),
        expect: z.optional(expect),
      })
      .check(z.describe("A step does one thing: say, request, advance or an action.")),
  )
  .check(
    z.maxLength(mostSteps),
    z.describe("A script to tell, step by step: what play shows and verify proves."),
  );
