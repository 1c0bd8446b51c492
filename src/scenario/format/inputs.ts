import { profiles } from "../../rules/assumptions.js";
import { organizationChange } from "../../rules/organization.js";
import { outcomeShape } from "../../rules/outcomes.js";
import { redact } from "../../rules/redact.js";
import { requestSources } from "../../rules/request.js";
import { checkedCopy, validationError } from "../../rules/validation.js";
import type { FieldPath } from "../../schema/field-path.js";
import type { Notation } from "../../schema/notation.js";
import * as s from "../../schema/shape.js";
import { actor, keyCreationFields, replacementRef } from "./action-shapes.js";
import { faultsSchema } from "./fault-shapes.js";
import { refOf } from "./refs.js";
import { overlap, time, timeOrDuration } from "./times.js";

// The inputs of the library and the control plane have the fields of scenarios, and so their spelling, checks and messages.

const sandboxOptionFields = {
  scenario: s.optional(s.either(s.text(), s.record(s.anything(), s.text()))),
  seed: s.optional(s.integer()),
  now: s.optional(time()),
  frozen: s.optional(s.flag()),
  profile: s.optional(s.choice(profiles)),
};

/** The inputs of the library, which the control plane has as bodies, too. */
export const inputShapes = {
  key_creation: s.mapping(keyCreationFields),
  key_rotation: s.mapping({ overlap: s.optional(overlap()), as: replacementRef }),
  key_expiry: s.mapping({ expires: timeOrDuration() }),
  organization_update: organizationChange,
  faults_change: s.mapping({ faults: faultsSchema }),
  sandbox_options: s.mapping(sandboxOptionFields),
} as const;

/** The query that says who acts, in a route of keys. */
export const actorQuery = s.mapping({ actor });

/** Which requests of the journal a call is about. */
export const requestQuery = s.mapping({
  limit: s.optional(s.integer()),
  outcome: s.optional(outcomeShape()),
  key: s.optional(refOf("key")),
  source: s.optional(s.choice(requestSources)),
  probes: s.optional(s.flag()),
  faults: s.optional(s.flag()),
});

/** Which requests a client must have sent. */
export const expectationQuery = s.mapping({
  outcome: s.optional(
    s.described(outcomeShape(), "The outcome of the response, or of the fault that affected it."),
  ),
  key: s.optional(refOf("key")),
  count: s.optional(s.described(s.integer(), "How many requests there must be. Default: at least one.")),
  faults: s.optional(
    s.described(
      s.flag(),
      "false: a request and those that repeat it after faults count once. Default: true.",
    ),
  ),
});

interface LeakedKey {
  readonly field: FieldPath;
  readonly message: string;
}

/** Checks an input of an operation. An API key in it is also a mistake, because names and codes are shown (R46). */
export function checkInput<Of extends s.Shape>(
  shape: Of,
  value: unknown,
  attempt: string,
  notation: Notation,
): s.ValueOf<Of> {
  const input = checkedCopy(shape, value, attempt, notation);
  // In the checked copy: the caller's value may have getters, and change.
  const leaks = leakedKeys(input, [], notation.nameOfWhole);
  if (leaks.length > 0) throw validationError(attempt, leaks);
  return input as s.ValueOf<Of>;
}

/** The fields of an input that contain an API key, as a value or as a name. `shownName` is the name of the value in messages. */
function leakedKeys(value: unknown, field: FieldPath, shownName: string): LeakedKey[] {
  if (typeof value === "string") {
    if (redact(value) === value) return [];
    return [{ field, message: `${shownName} must not contain an API key` }];
  }
  if (typeof value !== "object" || value === null) return [];

  const leaks: LeakedKey[] = [];
  for (const [name, member] of Object.entries(value)) {
    // A scenario may pin its keys, and has its own checks.
    if (field.length === 0 && name === "scenario") continue;
    if (redact(name) !== name) {
      leaks.push({ field, message: `a name in ${shownName} must not contain an API key` });
      continue;
    }
    const isItem = Array.isArray(value);
    const step = isItem ? Number(name) : name;
    leaks.push(...leakedKeys(member, [...field, step], isItem ? `${shownName}[${name}]` : name));
  }
  return leaks;
}
