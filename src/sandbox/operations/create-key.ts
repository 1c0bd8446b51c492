import { defaultScopes, type Environment, environments } from "../../domain/api-key.js";
import { SandboxError } from "../../domain/errors.js";
import { defaultLimits } from "../../domain/limits.js";
import type { Organization } from "../../domain/organization.js";
import { refOfName } from "../../scenario/format/ref.js";
import { didYouMean } from "../../scenario/problems/words.js";
import { isInstant } from "../clock.js";
import { type KeyView, viewKey } from "../views.js";
import type { World } from "../world.js";
import {
  choiceProblem,
  type FieldProblems,
  type Initiator,
  refProblem,
  requireAdministrator,
  requireFields,
  unknownFields,
} from "./check-input.js";
import { type Instant, instantFrom } from "./input-times.js";
import { freeRef, issueKey, requireRoomForKey } from "./issue-key.js";

/** A key to create (R29). */
export interface CreateKeyInput {
  /** Ref of the organization. */
  readonly organization: string;
  readonly environment: Environment;
  readonly name: string;
  /** Default: `attestations:read`. */
  readonly scopes?: readonly string[] | undefined;
  /** Default: 60 a minute, 1000 a day. */
  readonly limits?: LimitsInput | undefined;
  /** Default: made from the name. */
  readonly ref?: string | undefined;
  /** A time, or a duration (as text) from now. Default: never. */
  readonly expires?: Instant | undefined;
}

interface LimitsInput {
  readonly per_minute?: number | undefined;
  readonly per_day?: number | undefined;
}

const fields = ["organization", "environment", "name", "scopes", "limits", "ref", "expires"];
const maximumNameLength = 200;

/**
 * Creates an active key; returns its secret, for the only time (R34).
 *
 * Throws `validation_failed`, `unknown_ref`, `sandbox_access_off` (R30), `live_access_not_approved` (R31),
 * `scopes_required` (R29), `unknown_scope`, `key_limit_reached` (R32) or `name_taken`, and changes nothing then.
 */
export function createKey(
  world: World,
  input: CreateKeyInput,
  by: Initiator = {},
): { readonly key: KeyView; readonly secret: string } {
  requireAdministrator(by);
  const expiresAt = input.expires === undefined ? undefined : instantFrom(world.clock.now(), input.expires);
  requireFields("create a key", {
    ...problemsOf(input),
    expires:
      expiresAt === undefined || isInstant(expiresAt) ? undefined : "must be a time before the year 10000",
  });
  const { environment, name, scopes = defaultScopes, limits } = input;
  const { organization } = world.registry.organization(input.organization);
  requireAccess(organization, environment);
  requireScopes(world, scopes);
  requireRoomForKey(world, input);
  const ref = input.ref ?? freeRef(world, refOfName(name));
  const described = {
    ref,
    organization: input.organization,
    name,
    environment,
    scopes: [...scopes],
    limits: {
      perMinute: limits?.per_minute ?? defaultLimits.perMinute,
      perDay: limits?.per_day ?? defaultLimits.perDay,
    },
    ...(expiresAt !== undefined && { expiresAt }),
  };
  const secret = issueKey(world, described, by);
  const key = viewKey(world.registry.key(ref), world);
  world.events.announce({ type: "key.created", key });
  return { key, secret };
}

function problemsOf(input: CreateKeyInput): FieldProblems {
  return {
    ...unknownFields(input, fields),
    organization: typeof input.organization === "string" ? undefined : "must be the ref of an organization",
    environment: choiceProblem(input.environment, environments),
    name: nameProblem(input.name),
    scopes: scopesProblem(input.scopes),
    ...limitProblems(input.limits),
    ref: refProblem(input.ref),
  };
}

function nameProblem(name: unknown): string | undefined {
  if (typeof name === "string" && name !== "" && name.length <= maximumNameLength) return undefined;
  return `must be a text of 1 to ${maximumNameLength} characters`;
}

function scopesProblem(scopes: unknown): string | undefined {
  if (scopes === undefined) return undefined;
  if (!Array.isArray(scopes) || scopes.some((scope) => typeof scope !== "string")) {
    return "must be a list of scope names";
  }
  return new Set(scopes).size === scopes.length ? undefined : "must not name a scope twice";
}

function limitProblems(limits: unknown): FieldProblems {
  if (limits === undefined) return {};
  if (typeof limits !== "object" || limits === null) return { limits: "must hold limits by name" };
  const { per_minute, per_day } = limits as Record<string, unknown>;
  return {
    ...unknownFields(limits, ["per_minute", "per_day"], "limits."),
    "limits.per_minute": limitProblem(per_minute),
    "limits.per_day": limitProblem(per_day),
  };
}

function limitProblem(limit: unknown): string | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && (limit as number) >= 0)) return undefined;
  return "must be a whole number from 0";
}

function requireAccess({ ref, sandboxAccess, liveAccess }: Organization, environment: Environment): void {
  if (environment === "test" && !sandboxAccess) {
    throw new SandboxError(
      "sandbox_access_off",
      `Failed to create a test key: sandbox access is not turned on for ${ref}.`,
      { organization: ref },
    );
  }
  if (environment === "live" && liveAccess !== "approved") {
    throw new SandboxError(
      "live_access_not_approved",
      `Failed to create a live key: the compliance application of ${ref} is not approved (live_access: ${liveAccess}).`,
      { organization: ref, live_access: liveAccess },
    );
  }
}

function requireScopes(world: World, scopes: readonly string[]): void {
  if (scopes.length === 0) {
    throw new SandboxError("scopes_required", "Failed to create a key: it needs one scope or more.");
  }
  const known = world.assumptions.scopes;
  const unknown = scopes.find((scope) => !known.includes(scope));
  if (unknown === undefined) return;
  throw new SandboxError(
    "unknown_scope",
    `Failed to create a key: there is no scope ${JSON.stringify(unknown)}; there are ${known.join(", ")}.${didYouMean(unknown, known)}`,
    { scope: unknown, known: [...known] },
  );
}
