import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { call } from "../../control/call.js";
import { isOffline } from "../../control/events.js";
import { clock } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { type ActionQueue, RejectionText } from "../../elements/forms/action.js";
import { LossButton } from "../../elements/forms/loss.js";
import { Until } from "../../elements/instant.js";
import { useKeyboard } from "../../elements/keyboard.js";

export const moveTo = (at: string) => call("/clock", { method: "PUT", body: { now: at } });

const leaps = [
  ["m", "+1 min", "1m"],
  ["t", "+10 min", "10m"],
  ["h", "+1 h", "1h"],
  ["d", "+1 d", "1d"],
] as const;

interface ClockControlsProps {
  readonly next: Shown<"Upcoming"> | undefined;
  readonly changes: ActionQueue;
}

/** Buttons that move the clock, each with a key of the keyboard. */
export function ClockControls({ next, changes: { add: move, problem } }: ClockControlsProps) {
  const controls = useRef<HTMLFieldSetElement>(null);
  useShortcuts(controls);
  const isFrozen = clock.data.value?.frozen ?? false;
  return (
    <fieldset class="bar clock-controls" ref={controls}>
      <legend class="visually-hidden">Move the clock</legend>
      {leaps.map(([shortcut, words, by]) => (
        <ClockButton
          key={shortcut}
          shortcut={shortcut}
          run={() => move(() => call("/clock/advance", { method: "POST", body: { by } }))}
        >
          {words}
        </ClockButton>
      ))}
      <ClockButton shortcut="n" disabled={next === undefined} run={() => next && move(() => moveTo(next.at))}>
        Next event
      </ClockButton>
      <ClockButton
        shortcut="f"
        run={() => move(() => call("/clock", { method: "PUT", body: { frozen: !isFrozen } }))}
      >
        {isFrozen ? "Resume" : "Freeze"}
      </ClockButton>
      <LossButton
        class="quiet"
        shortcut="r"
        title="Start the scenario again?"
        action="Start again"
        run={() => call("/reset", { method: "POST" })}
      >
        Reset… <kbd>r</kbd>
      </LossButton>
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault();
          const to = String(new FormData(event.currentTarget).get("to")).trim();
          const isTime = /^\d{4}-/.test(to);
          move(() => (isTime ? moveTo(to) : call("/clock/advance", { method: "POST", body: { by: to } })));
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

function ClockButton(props: {
  readonly shortcut: string;
  readonly run: () => void;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}) {
  const { shortcut, run, disabled = false, children } = props;
  return (
    <button
      type="button"
      class="quiet"
      aria-keyshortcuts={shortcut}
      disabled={disabled || isOffline.value}
      onClick={run}
    >
      {children} <kbd>{shortcut}</kbd>
    </button>
  );
}

/** Presses the button with this shortcut, unless the user is typing or a dialog is open. */
function useShortcuts(controls: { readonly current: HTMLElement | null }): void {
  useKeyboard(({ key, target }) => {
    if (!/^[a-z]$/.test(key) || document.querySelector("dialog[open]") !== null) return;
    if ((target as HTMLElement).closest("input, select, textarea, [contenteditable]") !== null) return;
    controls.current?.querySelector<HTMLButtonElement>(`[aria-keyshortcuts="${key}"]`)?.click();
  });
}
