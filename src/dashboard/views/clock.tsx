import { signal, useSignal } from "@preact/signals";
import { call } from "../control/call.js";
import { useResources } from "../control/resource.js";
import { clock, now, upcoming, useNow } from "../control/resources.js";
import { Button, RejectionText, useActions } from "../elements/action.js";
import { Field, type FormDraft } from "../elements/form.js";
import { InstantText, Panel, Until } from "../elements/words.js";
import { linkTo } from "../route.js";

const moveTo = (at: string) => call("/clock", { method: "PUT", body: { now: at } });

const advance = (by: string) => call("/clock/advance", { method: "POST", body: { by } });

const leaps = [
  ["+1 min", "1m"],
  ["+10 min", "10m"],
  ["+1 h", "1h"],
  ["+1 d", "1d"],
] as const;

const eventsAtFirst = 5;

/** The clock, and what it will change. */
export function ClockPanel() {
  useResources(upcoming);
  useNow();
  const { add: move, problem } = useActions();
  const isWhole = useSignal(false);
  const isFrozen = clock.data.value?.frozen ?? false;
  // After a jump, the list contains past events until it is read again.
  const coming = (upcoming.data.value ?? []).filter(({ at }) => !(Date.parse(at) <= now.value));
  const shown = isWhole.value ? coming : coming.slice(0, eventsAtFirst);
  const button = (words: string, run: () => Promise<unknown>, event = "") => (
    <Button class="quiet small" run={() => move(run)}>
      {words}
      <span class="visually-hidden"> {event}</span>
    </Button>
  );
  const freeze = () => call("/clock", { method: "PUT", body: { frozen: !isFrozen } });
  return (
    <Panel title="Clock" name="clock" actions={<span class="badge">{isFrozen ? "frozen" : "running"}</span>}>
      <p class="figure">
        <strong>
          <InstantText at={now.value} />
        </strong>
      </p>
      <div class="bar">
        {leaps.map(([words, by]) => button(words, () => advance(by)))}
        {button(isFrozen ? "Resume" : "Freeze", freeze)}
      </div>
      <RejectionText problem={problem ?? upcoming.problem.value} />
      <MoveForm />
      <h3>Next events</h3>
      <ul class="list">
        {shown.map(({ at, kind, key, text }) => (
          <li key={`${at} ${kind} ${key} ${text}`} class="bar nowrap">
            <div class="wide">
              <p>{key === null ? text : <a href={linkTo("keys", [key], { filter: key })}>{text}</a>}</p>
              <p class="muted small">
                <Until at={at} />, <InstantText at={at} />
              </p>
            </div>
            {button("Go there", () => moveTo(at), text)}
          </li>
        ))}
      </ul>
      {shown.length === coming.length ? null : (
        <Button
          class="quiet small"
          run={() => {
            isWhole.value = true;
          }}
        >
          Show {coming.length - shown.length} more
        </Button>
      )}
    </Panel>
  );
}

/** Stays while another view is shown. */
const draft: FormDraft = signal({});

/** Moves the clock by a duration or to a time. */
function MoveForm() {
  const { add, problem } = useActions();
  const text = draft.value.to ?? "";
  const move = async () => {
    await (/^\d{4}-/.test(text) ? moveTo(text.trim()) : advance(text.trim()));
    draft.value = {};
  };
  // The sandbox knows only the form that it was sent.
  const isNeither = problem?.fields.by !== undefined;
  const words = isNeither
    ? "Enter a duration, such as 90s, 2h or 1d, or a time, such as 2026-03-02T12:00:00Z."
    : (problem?.fields.now ?? problem?.message);
  return (
    <form
      class="bar align-end"
      onSubmit={(event) => {
        event.preventDefault();
        add(move);
      }}
    >
      <Field
        draft={draft}
        name="to"
        label="Move by a duration, or to a time"
        required
        placeholder="90s, 2h or a time"
        problem={words}
      />
      <button type="submit" class="quiet">
        Move
      </button>
    </form>
  );
}
