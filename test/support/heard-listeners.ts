import { vi } from "vitest";
import type { EventLog } from "../../src/sandbox/events.js";

type EventLogs = Pick<typeof import("../../src/sandbox/events.js"), "createEventLog">;

/** How many listen to the logs of all hosts. */
export const heard = { listeners: 0 };

/** Resolves once nobody listens any more. */
export const allHaveLeft = () => vi.waitUntil(() => heard.listeners === 0, { timeout: 5000, interval: 5 });

/** Stands in for the module of the event log, and counts in `heard` who listens. */
export function countListeners({ createEventLog }: EventLogs): EventLogs {
  return {
    createEventLog(...given: Parameters<typeof createEventLog>): EventLog {
      const log = createEventLog(...given);
      return {
        ...log,
        subscribe(listener) {
          heard.listeners += 1;
          const leave = log.subscribe(listener);
          let there = true;
          return () => {
            leave();
            if (there) heard.listeners -= 1;
            there = false;
          };
        },
      };
    },
  };
}
