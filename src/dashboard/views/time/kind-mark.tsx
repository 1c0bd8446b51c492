import type { Shown } from "../../control/responses.js";
import { stateShapes } from "../../elements/key-state.js";

type Kind = Shown<"Upcoming">["kind"];

const minute = "M4 0H6V10H4Z";
const day = "M2 0H4V10H2ZM6 0H8V10H6Z";
const step = "M0 1H10L5 9.5Z";
const record = "M5 0A5 5 0 1 1 4.99 0ZM5 2.5A2.5 2.5 0 1 0 5.01 2.5Z";

/** The shapes of events in a box of 10 by 10, their labels and tones. The end of a key has the shape of its next state. */
export const kinds: Readonly<
  Record<Kind, { readonly shape: string; readonly words: string; readonly tone: string }>
> = {
  overlap_ends: { shape: stateShapes.rotated, words: "overlap ends", tone: "limit" },
  key_expires: { shape: stateShapes.expired, words: "key expires", tone: "key" },
  minute_reset: { shape: minute, words: "minute limit resets", tone: "other" },
  day_reset: { shape: day, words: "day limit resets", tone: "other" },
  timeline_step: { shape: step, words: "timeline step", tone: "success" },
  api_changes: { shape: "M0 2H6V0L10 5L6 10V8H0Z", words: "API changes", tone: "other" },
  fault_begins: { shape: "M0 9L5 0L10 9Z", words: "fault starts", tone: "fault" },
  fault_ends: { shape: "M0 9L5 0L10 9ZM3 7.3H7L5 3.6Z", words: "fault ends", tone: "fault" },
  record_changes: { shape: record, words: "record changes", tone: "access" },
};

export function KindMark({ kind }: { readonly kind: Kind }) {
  const { shape, tone } = kinds[kind];
  return (
    <svg class={`kind-mark tone-${tone}`} width="12" height="12" viewBox="0 0 10 10" aria-hidden="true">
      <path d={shape} fill-rule="evenodd" />
    </svg>
  );
}
