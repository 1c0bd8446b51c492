import { z } from "zod/mini";
import { environments } from "../../domain/api-key.js";
import { refusalCodes } from "../../domain/errors.js";
import { type FailureStatus, failures } from "../../domain/fault.js";
import { liveAccessStates, organizationStatuses } from "../../domain/organization.js";
import { apiPathIds, mePath, outcomes } from "../../domain/outcomes.js";
import type { ActionName } from "../../domain/steps.js";
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
  wait,
} from "./fields.js";

// Faults. `rules/faults.ts` checks what their fields say of each other.

const mostFaults = 100;
const mostRequests = 1000;

// More than an hour is what `hang` is for.
const longestLatency = 60 * 60_000;
const latencyTime = () => wait(longestLatency);

const latency = z.union([
  latencyTime(),
  z.strictObject({
    min: latencyTime(),
    max: latencyTime(),
  }),
]);

const positive = () => count().check(z.minimum(1));

const when = z.strictObject({
  key: z.optional(ref()),
  organization: z.optional(ref()),
  path_id: z.optional(choice(apiPathIds)),
  after: z.optional(timeOrDuration()),
  until: z.optional(timeOrDuration()),
  every: z.optional(positive()),
  requests: z.optional(z.array(positive()).check(z.minLength(1), z.maxLength(mostRequests))),
  probability: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
});

const then = z.strictObject({
  latency: z.optional(latency),
  status: z.optional(z.literal(Object.keys(failures).map(Number) as FailureStatus[])),
  body: z.optional(choice(["json", "html"])),
  reset: z.optional(flag()),
  hang: z.optional(flag()),
  truncate: z.optional(flag()),
  malformed: z.optional(flag()),
  slow: z.optional(positive()),
});

/** The shape of a list of faults. */
export const faultsSchema = z
  .array(
    z.strictObject({
      when: z.optional(when),
      then,
      requests_matched: z.optional(count()),
    }),
  )
  .check(z.maxLength(mostFaults));

// Steps.

const mostSteps = 1000;
const mostRepeats = 10_000;
const longestNarration = 2000;

/** What a key is created with, by a step or over the control plane. */
export const keyCreationFields = {
  organization: ref(),
  environment: choice(environments),
  name: text(),
  // An empty list has an error code of its own (R29), and so has a scope that there is not.
  scopes: z.optional(z.array(scope())),
  limits: z.optional(limits),
  ref: z.optional(ref()),
  expires: z.optional(timeOrDuration()),
};

/** What can change about an organization, by a step or over the control plane. */
export const organizationChangeFields = {
  status: z.optional(choice(organizationStatuses)),
  sandbox_access: z.optional(flag()),
  live_access: z.optional(choice(liveAccessStates)),
};

/** The ref of the key that a rotation makes. */
export const replacementRef = z.optional(ref());

const actor = z.optional(choice(["administrator", "member"]));

// The same in a timeline and in a story. `rules/steps.ts` checks what a step refers to.
const actionFields = {
  create_key: z.optional(z.strictObject({ ...keyCreationFields, actor })),
  rotate: z.optional(
    z.strictObject({
      key: ref(),
      as: replacementRef,
      overlap: z.optional(duration()),
      actor,
    }),
  ),
  revoke: z.optional(z.strictObject({ key: ref(), actor })),
  organization: z.optional(z.strictObject({ ref: ref(), ...organizationChangeFields })),
  consent: z.optional(
    z.strictObject({
      farmer: count(),
      do: choice(["grant", "reject", "revoke"]),
      organization: z.optional(ref()),
    }),
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
);

const headerName = pattern(
  { noun: "the name of a header", example: "X-Trace" },
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
);
// One line of Latin-1: what Node and browsers send.
const headerValue = pattern(
  { noun: "one line of ASCII or Latin-1", example: "X-Trace: abc" },
  /^[\t\x20-\x7e\x80-\xff]*$/,
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

const request = z.strictObject({
  key: z.optional(ref()),
  method: z.optional(method),
  path: z.optional(path),
  headers: z.optional(z.record(headerName, headerValue)),
  body: z.optional(anything()),
  repeat: z.optional(count().check(z.minimum(1), z.maximum(mostRepeats))),
});

const expect = z.strictObject({
  status: z.optional(count()),
  code: z.optional(z.nullable(z.string())),
  path: z.optional(choice(outcomes.map(({ path }) => path))),
  headers: z.optional(z.record(headerName, z.union([z.string(), z.boolean()]))),
  body: z.optional(anything()),
  error: z.optional(choice(refusalCodes)),
});

/** The shape of a timeline. */
export const timelineSchema = z
  .array(
    z.strictObject({
      at: timeOrDuration(),
      ...actionFields,
      expect: z.optional(z.strictObject({ error: choice(refusalCodes) })),
    }),
  )
  .check(z.maxLength(mostSteps));

/** The shape of a story. */
export const storySchema = z
  .array(
    z.strictObject({
      say: z.optional(text(longestNarration)),
      request: z.optional(request),
      ...actionFields,
      advance: z.optional(duration((length) => length > 0)),
      expect: z.optional(expect),
    }),
  )
  .check(z.maxLength(mostSteps));
