import type { Organization } from "../../domain/organization.js";
import { validationError } from "../../scenario/problems/scenario-error.js";
import { faultProblems } from "../../scenario/rules/faults.js";
import { isoOf } from "../clock.js";
import { activateFaults, type Fault } from "../faults.js";
import { type ClockView, type OrganizationView, viewClock, viewOrganization } from "../views.js";
import type { World } from "../world.js";
import { type Initiator, requireAdministrator } from "./check-input.js";
import { type Duration, durationOf, type Instant, instantOf } from "./input-times.js";

/** An organization to change, and how. */
export interface OrganizationInput {
  readonly ref: string;
  readonly status?: Organization["status"] | undefined;
  readonly sandbox_access?: boolean | undefined;
  readonly live_access?: Organization["liveAccess"] | undefined;
}

/** Changes an organization from the next request on; throws `unknown_ref`, and changes nothing then. */
export function updateOrganization(
  world: World,
  input: OrganizationInput,
  by: Initiator = {},
): { readonly organization: OrganizationView } {
  requireAdministrator(by);
  const entry = world.registry.organization(input.ref);
  const { status, sandboxAccess, liveAccess } = entry.organization;
  entry.organization = {
    ...entry.organization,
    status: input.status ?? status,
    sandboxAccess: input.sandbox_access ?? sandboxAccess,
    liveAccess: input.live_access ?? liveAccess,
  };
  const organization = viewOrganization(entry.organization);
  world.events.announce({ type: "organization.updated", organization });
  return { organization };
}

/**
 * Replaces the active faults by others of valid shape; durations in them count from now.
 *
 * Throws `validation_failed` with every contradiction, and changes nothing then.
 */
export function changeFaults(world: World, faults: readonly Fault[]): void {
  const { clock, registry, seed, events } = world;
  const now = clock.now();
  const problems = faultProblems(faults, {
    refs: { key: registry.keys, organization: registry.organizations },
    preview: world.preview,
    now: isoOf(now),
  });
  if (problems.length > 0) throw validationError("Failed to change the faults", problems);
  world.faults.active = activateFaults(faults, seed, now);
  events.announce({ type: "faults.changed" });
}

/** A change of the clock: to a later time, frozen or running. */
export interface ClockInput {
  readonly now?: Instant | undefined;
  readonly frozen?: boolean | undefined;
}

/** Sets, freezes or resumes the clock; throws `clock_backwards` or `validation_failed`, and changes nothing then. */
export function changeClock(world: World, { now, frozen }: ClockInput): ClockView {
  const { clock } = world;
  if (now !== undefined) clock.set(instantOf(now));
  if (frozen === true) clock.freeze();
  if (frozen === false) clock.resume();
  return announceClock(world);
}

/** Advances the clock; throws `clock_backwards` or `validation_failed`, and changes nothing then. */
export function advanceClock(world: World, by: Duration): ClockView {
  world.clock.advance(durationOf(by));
  return announceClock(world);
}

function announceClock(world: World): ClockView {
  world.events.announce({ type: "clock.moved", ...viewClock(world.clock) });
  world.settle();
  return viewClock(world.clock);
}

/** Clears the journal and the counters of the report; the usage of the keys stays. */
export function clearRequests({ journal, counters, events }: World): void {
  journal.clear();
  counters.clear();
  events.announce({ type: "requests.cleared" });
}
