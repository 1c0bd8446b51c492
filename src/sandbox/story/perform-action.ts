import { type RefusalCode, refusalCodes, SandboxError } from "../../domain/errors.js";
import { type ActionName, actionNames } from "../../domain/steps.js";
import { parseDuration } from "../../scenario/duration.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { parseWhen } from "../../scenario/when.js";
import { type ConsentView, viewConsent } from "../consent-views.js";
import { changeFaults } from "../lifecycle/change-faults.js";
import { createKey } from "../lifecycle/create-key.js";
import { decideNewestConsent } from "../lifecycle/decide-consent.js";
import { seededSecret } from "../lifecycle/issue-key.js";
import { revokeKey } from "../lifecycle/revoke-key.js";
import { rotateKey } from "../lifecycle/rotate-key.js";
import { updateOrganization } from "../lifecycle/update-organization.js";
import { type KeyView, type OrganizationView, viewKey, viewOrganization } from "../views.js";
import type { World } from "../world.js";

/** What a step of a timeline or a story does to the world. */
export type Action = Pick<NonNullable<Scenario["timeline"]>[number], ActionName>;

/** How the dashboard refused an action. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
}

/** What came of an action: what it touched, as it is now, or why it was refused. */
export interface Performed {
  /** `null` when it was done. */
  readonly refusal: Refusal | null;
  /** The key that was created, replaced or revoked. */
  readonly key: KeyView | null;
  /** The key that replaces it. */
  readonly replacement: KeyView | null;
  /** The full key of the new one: the only time that it is shown (R34). */
  readonly secret: string | null;
  readonly organization: OrganizationView | null;
  /** The consent request that a farmer has decided about. */
  readonly consent: ConsentView | null;
}

const nothing: Performed = {
  refusal: null,
  key: null,
  replacement: null,
  secret: null,
  organization: null,
  consent: null,
};

/**
 * Does to the world what the step says.
 *
 * A refusal of the dashboard is an answer; anything else that goes wrong is thrown. New keys get the secrets that the
 * seed and their refs give, so that a scenario plays the same way each time.
 */
export function performAction(world: World, action: Action): Performed {
  try {
    return perform(world, action);
  } catch (error) {
    if (!(error instanceof SandboxError) || !isRefusal(error.code)) throw error;
    return { ...nothing, refusal: { code: error.code, message: error.message } };
  }
}

/** The name of the action in a step; `undefined` when there is none. */
export function actionIn(step: Action): ActionName | undefined {
  return actionNames.find((name) => step[name] !== undefined);
}

function perform(world: World, action: Action): Performed {
  const { create_key, rotate, revoke, organization, consent, faults } = action;
  if (create_key !== undefined) return created(world, create_key);
  if (rotate !== undefined) return rotated(world, rotate);
  if (revoke !== undefined) {
    revokeKey(world, revoke.key, revoke.actor);
    return { ...nothing, key: keyNow(world, revoke.key) };
  }
  if (organization !== undefined) {
    const { ref, status, sandbox_access: sandboxAccess, live_access: liveAccess } = organization;
    const change = {
      ...(status !== undefined && { status }),
      ...(sandboxAccess !== undefined && { sandboxAccess }),
      ...(liveAccess !== undefined && { liveAccess }),
    };
    return { ...nothing, organization: viewOrganization(updateOrganization(world, ref, change)) };
  }
  if (consent !== undefined) {
    const decided = decideNewestConsent(world, consent.farmer, consent.do, consent.organization);
    return { ...nothing, consent: viewConsent(decided, world) };
  }
  if (faults !== undefined) changeFaults(world, faults);
  return nothing;
}

function created(world: World, given: NonNullable<Action["create_key"]>): Performed {
  const { limits, expires, actor, ...same } = given;
  const expiresAt = expires === undefined ? undefined : parseWhen(expires, world.clock.now());
  const { key, secret } = createKey(
    world,
    {
      ...same,
      ...(limits !== undefined && { limits: limitsOf(limits) }),
      ...(expiresAt !== undefined && { expiresAt }),
    },
    actor,
    seededSecret,
  );
  return { ...nothing, key: keyNow(world, key.ref), secret };
}

function rotated(world: World, { key: ref, as, overlap, actor }: NonNullable<Action["rotate"]>): Performed {
  const rotation = {
    ...(as !== undefined && { as }),
    ...(overlap !== undefined && { overlap: parseDuration(overlap) ?? Number.NaN }),
  };
  const { key, secret } = rotateKey(world, ref, rotation, actor, seededSecret);
  return { ...nothing, key: keyNow(world, ref), replacement: keyNow(world, key.ref), secret };
}

function limitsOf({ per_minute, per_day }: { per_minute?: number; per_day?: number }) {
  return {
    ...(per_minute !== undefined && { perMinute: per_minute }),
    ...(per_day !== undefined && { perDay: per_day }),
  };
}

function keyNow(world: World, ref: string): KeyView {
  return viewKey(world.registry.key(ref), world);
}

function isRefusal(code: string): code is RefusalCode {
  return (refusalCodes as readonly string[]).includes(code);
}
