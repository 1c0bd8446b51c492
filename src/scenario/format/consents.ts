import { z } from "zod/mini";
import { permissions } from "../../domain/attestation.js";
import { type ConsentAction, consentActions, longestPurpose, purposeCodes } from "../../domain/consent.js";
import { choice, count, flag, ref, sha256, text, time, timeOrDuration } from "./fields.js";

// Consent requests that exist when the clock starts: what has been done so far; the rest is worked out from it.

const longestIdempotencyKey = 255;

const actions = Object.keys(consentActions) as ConsentAction[];

const deed = z
  .strictObject({
    at: timeOrDuration("When it was done."),
    do: choice(actions, "What the farmer (grant, reject, revoke) or the relying party (cancel) did."),
  })
  .check(z.describe("Something that was done about the request."));

const suspension = z
  .strictObject({
    at: time("When it happened."),
    permission: choice(permissions, "Of which attestation."),
    suspended: flag("Whether it was suspended, or its suspension ended."),
  })
  .check(z.describe("An attestation was suspended, or its suspension ended."));

const idempotency = z
  .strictObject({
    key: z
      .string()
      .check(
        z.regex(/^[\x20-\x7e]+$/),
        z.maxLength(longestIdempotencyKey),
        z.describe("The Idempotency-Key with which it was made."),
      ),
    sha256: z.optional(
      sha256("The SHA-256 of what its body said; snapshots write it. Left out: no other body is the same."),
    ),
  })
  .check(z.describe("How a client can send the request again without making another one."));

/** The shape of the consent requests of a scenario. `rules/steps.ts` checks what they say of each other. */
export const consentsSchema = z
  .array(
    z
      .strictObject({
        organization: ref(
          "The organization that asks; always with a test key, since live keys see no farmers here.",
        ),
        farmer: count("The farmer, by number: 0 is the first one."),
        purpose: z.optional(
          z
            .strictObject({
              code: choice(purposeCodes, "What kind of purpose."),
              text: text("What the farmer reads.", longestPurpose),
            })
            .check(z.describe("What the data is wanted for. Default: a credit assessment.")),
        ),
        permissions: z.optional(
          z
            .array(choice(permissions, "What may be attested."))
            .check(
              z.minLength(1),
              z.maxLength(permissions.length),
              z.describe("What the farmer is asked to have attested. Default: [identity]."),
            ),
        ),
        created_at: z.optional(timeOrDuration("When it was made. Default: when the clock starts.")),
        expires_at: z.optional(
          timeOrDuration("When the consent ends, whatever the answer. Default: 90 days after it was made."),
        ),
        deeds: z.optional(z.array(deed).check(z.describe("What was done about it, in order."))),
        suspensions: z.optional(
          z
            .array(suspension)
            .check(z.describe("What happened to its attestations, in order; snapshots write it.")),
        ),
        idempotency: z.optional(idempotency),
      })
      .check(z.describe("A consent request.")),
  )
  .check(z.describe("Consent requests that exist when the clock starts; needs preview: true."));
