import { useEffect } from "preact/hooks";
import type { Consent, Report } from "../../control/answers.js";
import { call } from "../../control/call.js";
import { resource, useResources } from "../../control/resource.js";
import { clock } from "../../control/resources.js";

/** Whether the scenario has the preview of announced endpoints: without it there are no consents. */
export const previewIsOn = resource<boolean>("/report", {
  on: ["world."],
  read: async (path) => (await call<Report>(path)).preview !== null,
});

/** All consent requests, oldest first. */
export const consents = resource<readonly Consent[]>("/consents", {
  on: ["world.", "consent.", "clock.", "timeline.", "story."],
});

/** Keeps the consents up to date for as long as a component is shown; also what the passing of time does to them. */
export function useConsents(): void {
  useResources(consents, clock);
  const isRunning = clock.data.value?.frozen === false;
  useEffect(() => {
    if (!isRunning) return;
    // No event tells it.
    const timer = setInterval(consents.refresh, 5000);
    return () => clearInterval(timer);
  }, [isRunning]);
}
