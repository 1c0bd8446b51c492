import type { PlayedStep, TimelineResult } from "../steps.js";
import type { KeyView, OrganizationView } from "../views.js";
import type { Exchange } from "./exchange.js";

/** An event of a sandbox. Contains no keys (R34). */
export type SandboxEvent = RequestEvent | ChangeEvent;

interface RequestEvent {
  readonly type: "request";
  readonly exchange: Exchange;
}

export type ChangeEvent =
  | { readonly type: "key.created"; readonly key: KeyView }
  | { readonly type: "key.rotated"; readonly key: KeyView; readonly replacement: KeyView }
  | { readonly type: "key.revoked" | "key.updated"; readonly key: KeyView }
  | { readonly type: "organization.updated"; readonly organization: OrganizationView }
  | { readonly type: "clock.moved"; readonly now: string; readonly frozen: boolean }
  | { readonly type: "assumptions.changed" }
  | { readonly type: "faults.changed" }
  | { readonly type: "requests.cleared" }
  | { readonly type: "timeline.step"; readonly result: TimelineResult }
  /** The result has no secret of a key that the step created. */
  | { readonly type: "story.step"; readonly result: PlayedStep }
  /** After a reset, or the start of another scenario. */
  | { readonly type: "sandbox.started"; readonly scenario: string; readonly seed: number };

export type StepEvent = Extract<SandboxEvent, { readonly type: "timeline.step" | "story.step" }>;
