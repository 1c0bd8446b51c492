import { useEffect } from "preact/hooks";
import type { Consent, Report } from "../../control/answers.js";
import { call } from "../../control/call.js";
import { resource, useResources } from "../../control/resource.js";
import { clock } from "../../control/resources.js";

/** Whether the scenario previews announced endpoints. Without the preview, no consents exist. */
export const previewIsOn = resource<boolean>("/report", {
  on: ["world."],
  read: async (path) => (await call<Report>(path)).preview !== null,
});

/** All consent requests, oldest first. */
export const consents = resource<readonly Consent[]>("/consents", {
  on: ["world.", "consent.", "clock.", "timeline.", "story."],
});

/** Keeps the consents up to date while a component is shown, also as time passes. */
export function useConsents(): void {
  useResources(consents, clock);
  const isRunning = clock.data.value?.frozen === false;
  useEffect(() => {
    if (!isRunning) return;
    // No event reports changes over time.
    const timer = setInterval(consents.refresh, 5000);
    return () => clearInterval(timer);
  }, [isRunning]);
}
