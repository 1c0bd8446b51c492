import { call } from "../../control/call.js";
import { clock } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { isOffline } from "../../control/revision.js";
import { type ActionQueue, RejectionText } from "../../elements/forms/action.js";
import { AskButton } from "../../elements/forms/ask.js";
import { Until } from "../../elements/instant.js";

export const moveTo = (at: string) => call("/clock", { method: "PUT", body: { now: at } });

const advance = (by: string) => call("/clock/advance", { method: "POST", body: { by } });

const leaps = [
  ["+1 min", "1m"],
  ["+10 min", "10m"],
  ["+1 h", "1h"],
  ["+1 d", "1d"],
] as const;

interface ClockControlsProps {
  readonly next: Shown<"Upcoming"> | undefined;
  readonly changes: ActionQueue;
}

/** Buttons that move the clock. */
export function ClockControls({ next, changes: { add: move, problem } }: ClockControlsProps) {
  const isFrozen = clock.data.value?.frozen ?? false;
  const button = (words: string, run: () => Promise<unknown>, isDisabled = false) => (
    <button
      key={words}
      type="button"
      class="quiet"
      disabled={isDisabled || isOffline.value}
      onClick={() => move(run)}
    >
      {words}
    </button>
  );
  return (
    <fieldset class="bar">
      <legend class="visually-hidden">Move the clock</legend>
      {leaps.map(([words, by]) => button(words, () => advance(by)))}
      {button("Next event", async () => next && moveTo(next.at), next === undefined)}
      {button(isFrozen ? "Resume" : "Freeze", () =>
        call("/clock", { method: "PUT", body: { frozen: !isFrozen } }),
      )}
      <AskButton
        class="quiet"
        question={{
          title: "Start the scenario again?",
          action: "Start again",
          run: () => call("/reset", { method: "POST" }),
          loses: "state",
        }}
      >
        Reset…
      </AskButton>
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault();
          const to = String(new FormData(event.currentTarget).get("to")).trim();
          const isTime = /^\d{4}-/.test(to);
          move(() => (isTime ? moveTo(to) : advance(to)));
        }}
      >
        <input
          name="to"
          required
          autocomplete="off"
          aria-label="Duration or time"
          placeholder="90s, 2h, or a time"
        />
        <button type="submit" class="quiet" disabled={isOffline.value}>
          Move
        </button>
      </form>
      {next === undefined ? null : (
        <p class="muted wide">
          Next: {next.text}, <Until at={next.at} />
        </p>
      )}
      <RejectionText problem={problem} />
    </fieldset>
  );
}
