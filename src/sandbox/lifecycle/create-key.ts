import type { Environment } from "../../domain/api-key.js";
import { SandboxError } from "../../domain/errors.js";
import { defaultScopes } from "../../domain/key.js";
import { defaultLimits, type KeyLimits } from "../../domain/limits.js";
import type { Organization } from "../../domain/organization.js";
import { didYouMean } from "../../scenario/nearest.js";
import { refOfName } from "../../scenario/ref.js";
import { viewKey } from "../views.js";
import type { World } from "../world.js";
import { requireRoomForKey } from "./active-key.js";
import { type Actor, requireAdministrator } from "./administrator.js";
import { type IssuedKey, issueKey, randomSecret, type SecretMaker } from "./issue-key.js";
import { freeRef } from "./refs.js";
import { requireNewKey } from "./require-new-key.js";

/** The key that an administrator asks for (R29). */
export interface NewKey {
  /** Ref of the organization. */
  readonly organization: string;
  readonly environment: Environment;
  readonly name: string;
  /** Default: `attestations:read`. */
  readonly scopes?: readonly string[];
  /** Default: 60 a minute, 1000 a day. */
  readonly limits?: Partial<KeyLimits>;
  /** Default: made from the name. */
  readonly ref?: string;
  /** When it expires (epoch milliseconds). Default: never. */
  readonly expiresAt?: number;
}

/**
 * Creates an active key; its secret is in the answer and nowhere else (R34).
 *
 * Throws `validation_failed`, `unknown_ref`, `sandbox_access_off` (R30), `live_access_not_approved` (R31), `scopes_required` (R29),
 * `unknown_scope`, `key_limit_reached` (R32) or `name_taken`, and changes nothing then.
 */
export function createKey(
  world: World,
  wanted: NewKey,
  actor: Actor = "administrator",
  makeSecret: SecretMaker = randomSecret,
): IssuedKey {
  requireAdministrator(actor);
  requireNewKey(wanted);
  const { organization } = world.registry.organization(wanted.organization);
  requireAccess(organization, wanted.environment);
  const scopes = wanted.scopes ?? defaultScopes;
  requireScopes(world, scopes);
  requireRoomForKey(world, wanted);
  const described = {
    ref: wanted.ref ?? freeRef(world, refOfName(wanted.name)),
    organization: wanted.organization,
    name: wanted.name,
    environment: wanted.environment,
    scopes: [...scopes],
    limits: {
      perMinute: wanted.limits?.perMinute ?? defaultLimits.perMinute,
      perDay: wanted.limits?.perDay ?? defaultLimits.perDay,
    },
    ...(wanted.expiresAt !== undefined && { expiresAt: wanted.expiresAt }),
  };
  const issued = issueKey(world, described, makeSecret);
  world.events.announce({ type: "key.created", key: viewKey(world.registry.key(issued.key.ref), world) });
  return issued;
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
