import type { RequestEvent } from "./history/history.js";
import type { ConsentView } from "./preview/consent-shape.js";
import type { StepResult, TimelineResult } from "./steps.js";
import type { KeyView, OrganizationView } from "./view-shapes.js";

/** An event of a sandbox. Contains no keys (R34). */
export type WorldEvent = RequestEvent | OtherEvent;

/** An event other than a request. */
export type OtherEvent =
  | { readonly type: "key.created"; readonly key: KeyView }
  | { readonly type: "key.rotated"; readonly key: KeyView; readonly replacement: KeyView }
  | { readonly type: "key.revoked"; readonly key: KeyView }
  | { readonly type: "organization.updated"; readonly organization: OrganizationView }
  | { readonly type: "consent.requested"; readonly consent: ConsentView }
  /** The farmer or the relying party decided, or an attestation was suspended. Changes over time send no event. */
  | { readonly type: "consent.changed"; readonly consent: ConsentView }
  | { readonly type: "clock.moved"; readonly now: string; readonly frozen: boolean }
  | { readonly type: "assumptions.changed" }
  | { readonly type: "faults.changed" }
  | { readonly type: "requests.cleared" }
  | { readonly type: "timeline.step"; readonly result: TimelineResult }
  /** Without the secret of a key that the step created. */
  | { readonly type: "story.step"; readonly result: StepResult }
  /** After a reset, or the start of another scenario. */
  | { readonly type: "world.started"; readonly scenario: string; readonly seed: number };

/** A step of the timeline or the story has run. */
export type StepEvent = Extract<WorldEvent, { readonly type: "timeline.step" | "story.step" }>;
