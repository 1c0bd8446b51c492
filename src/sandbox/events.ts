import type { Exchange } from "./history/exchange.js";
import type { ConsentView } from "./preview/consent-views.js";
import type { StepResult, TimelineResult } from "./story/story.js";
import type { KeyView, OrganizationView } from "./views.js";

/** An event of a world. Holds no keys (R34). */
export type WorldEvent =
  | { readonly type: "request"; readonly exchange: Exchange }
  | { readonly type: "key.created"; readonly key: KeyView }
  | { readonly type: "key.rotated"; readonly key: KeyView; readonly replacement: KeyView }
  | { readonly type: "key.revoked"; readonly key: KeyView }
  | { readonly type: "organization.updated"; readonly organization: OrganizationView }
  | { readonly type: "consent.requested"; readonly consent: ConsentView }
  /** The farmer or the relying party has decided, or an attestation was suspended; not what time does. */
  | { readonly type: "consent.changed"; readonly consent: ConsentView }
  | { readonly type: "clock.moved"; readonly now: string; readonly frozen: boolean }
  | { readonly type: "assumptions.changed" }
  | { readonly type: "faults.changed" }
  | { readonly type: "requests.cleared" }
  | { readonly type: "timeline.step"; readonly result: TimelineResult }
  /** Without the secret of a key that the step made. */
  | { readonly type: "story.step"; readonly result: StepResult }
  /** Another world runs: a reset, or another scenario. */
  | { readonly type: "world.started"; readonly scenario: string; readonly seed: number };

/** A step of the timeline or the story has run. */
export type StepEvent = Extract<WorldEvent, { readonly type: "timeline.step" | "story.step" }>;

/** Hears of events. One that throws fails what it hears of, which has happened by then and which the others still hear of. */
export type EventListener = (event: WorldEvent) => void;

export interface Announcements {
  readonly announce: EventListener;
  /** Calls the listener with every event from now on, in order; answers how to stop that. */
  readonly subscribe: (listener: EventListener) => () => void;
  /** Tells everything to these, too. */
  readonly passOnTo: (others: Announcements) => void;
  /** Whether there are listeners; without them an event need not be made. */
  readonly isHeard: () => boolean;
}

export function createAnnouncements(): Announcements {
  const listeners = new Set<EventListener>();
  let others: Announcements | undefined;
  return {
    announce(event) {
      let failures: unknown[] | undefined;
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          failures = [error];
        }
      }
      // Last, because it may throw.
      others?.announce(event);
      if (failures !== undefined) throw failures[0];
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    passOnTo(next) {
      others = next;
    },
    isHeard: () => listeners.size > 0 || (others?.isHeard() ?? false),
  };
}

/** An event and its place in the order of all events; the first one is 1. */
export interface LoggedEvent {
  readonly id: number;
  /** The id of the one before it here. */
  readonly after: number;
  /** `undefined` where the requests after `after`, up to this one, are left out. */
  readonly event: WorldEvent | undefined;
}

/**
 * Makes a log of the events of a runtime from now on; it remembers the last `capacity`. `mayTell` is asked for each request
 * whether it is logged; those that are not are left out together. Ids count on from `from`.
 */
export function createEventLog(
  runtime: Pick<Announcements, "subscribe">,
  {
    capacity = 1000,
    from = 0,
    mayTell,
  }: { readonly capacity?: number; readonly from?: number; readonly mayTell: () => boolean },
) {
  const remembered: LoggedEvent[] = [];
  const listeners = new Set<(isTold: boolean) => void>();
  let latest = from;
  let leftOut: { id: number } | undefined;
  runtime.subscribe((event) => {
    latest += 1;
    const isTold = event.type !== "request" || mayTell();
    if (!isTold && leftOut !== undefined) leftOut.id = latest;
    else {
      const logged = { id: latest, after: latest - 1, event: isTold ? event : undefined };
      leftOut = isTold ? undefined : logged;
      remembered.push(logged);
      // Twice the capacity is let grow, so that the oldest half is cut off at once rather than one by one.
      if (remembered.length >= 2 * capacity) remembered.splice(0, remembered.length - capacity);
    }
    for (const listener of listeners) listener(isTold);
  });
  return {
    /** The events after the one of this id, oldest first; `undefined` when some of them are forgotten. */
    since(id: number): LoggedEvent[] | undefined {
      const first = remembered[0]?.after ?? latest;
      if (id > latest || id < first) return undefined;
      return remembered.filter((logged) => logged.id > id);
    },
    latest: () => latest,
    /** Calls the listener with every event, whether it is logged or left out; answers how to stop that. */
    subscribe(listener: (isTold: boolean) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export type EventLog = ReturnType<typeof createEventLog>;
