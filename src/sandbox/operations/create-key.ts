import { defaultScopes, type Environment } from "../../domain/api-key.js";
import { SandboxError } from "../../domain/errors.js";
import { defaultLimits } from "../../domain/limits.js";
import type { Organization } from "../../domain/organization.js";
import { refOfName } from "../../scenario/format/ref.js";
import { didYouMean } from "../../scenario/problems/words.js";
import { isInstant } from "../clock.js";
import { type KeyView, viewKey } from "../views.js";
import type { World } from "../world.js";
import { type Initiator, requireAdministrator, requireFields } from "./check-input.js";
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
  readonly limits?:
    | { readonly per_minute?: number | undefined; readonly per_day?: number | undefined }
    | undefined;
  /** Default: made from the name. */
  readonly ref?: string | undefined;
  /** A time, or a duration (as text) from now. Default: never. */
  readonly expires?: Instant | undefined;
}

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
  const { environment, name, scopes = defaultScopes, limits } = input;
  const isTooLate = expiresAt !== undefined && !isInstant(expiresAt);
  requireFields("create a key", {
    scopes: new Set(scopes).size < scopes.length ? "must not name a scope twice" : undefined,
    expires: isTooLate ? "must be a time before the year 10000" : undefined,
  });
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
