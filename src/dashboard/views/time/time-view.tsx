import { useId } from "preact/hooks";
import { isOffline } from "../../control/events.js";
import { now, upcoming, useUpcoming } from "../../control/now.js";
import { useResources } from "../../control/resource.js";
import { clock, keys, keyTotal } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { type ActionQueue, RejectionText, useActionQueue } from "../../elements/forms/action.js";
import { InstantText, Until } from "../../elements/instant.js";
import { counted } from "../../elements/words.js";
import { changeQuery, linkTo, route } from "../../route.js";
import { ClockControls, moveTo } from "./clock-controls.js";
import { KindMark, kinds } from "./kind-mark.js";
import { inOrderOfEvents, isReset, spanOf } from "./span.js";
import { TimeAxis } from "./time-axis.js";

type Event = Shown<"Upcoming">;
type Key = Shown<"ListedKey">;

const lanesAtFirst = 12;

export function TimeView() {
  useResources(keys, clock);
  useUpcoming();
  const listId = useId();
  const changes = useActionQueue();
  const all = keys.data.value ?? [];
  // After a jump, the list contains past events until it is read again.
  const coming = (upcoming.data.value ?? []).filter(({ at }) => !(Date.parse(at) <= now.value));
  return (
    <>
      <div class="bar">
        <h1>Time</h1>
        <span class="badge time-state">{clock.data.value?.frozen ? "frozen" : "running"}</span>
      </div>
      <ClockControls next={nextEvent(coming, all)} changes={changes} />
      <RejectionText problem={upcoming.problem.value ?? keys.problem.value} />
      {Number.isNaN(now.value) ? (
        <p class="muted">Reading…</p>
      ) : (
        <Axis keys={all} coming={coming} describedBy={listId} />
      )}
      <section class="panel stack" id={listId} aria-label="Next events">
        <h2>Next events</h2>
        <ComingList coming={coming} move={changes.add} />
      </section>
    </>
  );
}

/** The first event that changes something. The reset of an unused limit changes nothing. */
function nextEvent(coming: readonly Event[], all: readonly Key[]): Event | undefined {
  const isUsed = {
    minute_reset: all.some(({ usage }) => usage.this_minute > 0),
    day_reset: all.some(({ usage }) => usage.today > 0),
  };
  return coming.find(({ kind }) => !isReset(kind) || isUsed[kind as keyof typeof isUsed]) ?? coming[0];
}

interface AxisProps {
  readonly keys: readonly Key[];
  readonly coming: readonly Event[];
  readonly describedBy: string;
}

function Axis({ keys: all, coming, describedBy }: AxisProps) {
  const most = Math.max(lanesAtFirst, Number(route.value.query.get("lanes")) || 0);
  const lanes = inOrderOfEvents(all, coming).slice(0, most);
  return (
    <section class="panel stack" aria-label="Axis">
      <Legend coming={coming} />
      <TimeAxis
        span={spanOf(now.value, coming)}
        now={now.value}
        lanes={lanes}
        coming={coming}
        describedBy={describedBy}
      />
      {all.length > lanes.length ? (
        <p class="muted">
          {lanes.length.toLocaleString("en")} of {counted(keyTotal.value, "key")}; keys with events come
          first.{" "}
          <button type="button" class="quiet" onClick={() => changeQuery({ lanes: String(most + 24) })}>
            Show {Math.min(24, all.length - lanes.length)} more
          </button>
        </p>
      ) : null}
    </section>
  );
}

const bars = [
  ["works", "gets 200"],
  ["rejected", "gets 403 or 429"],
  ["hatched", "retiring, in its overlap"],
  ["over", "ended"],
] as const;

function Legend({ coming }: { readonly coming: readonly Event[] }) {
  const shown = new Set(coming.map(({ kind }) => kind));
  return (
    <ul class="bar muted small">
      {bars.map(([name, words]) => (
        <li key={name}>
          <svg width="18" height="10" aria-hidden="true">
            <path class={name} d="M1 1H17V9H1Z" />
          </svg>{" "}
          {words}
        </li>
      ))}
      {[...shown].map((kind) => (
        <li key={kind}>
          <KindMark kind={kind} /> {kinds[kind].words}
        </li>
      ))}
    </ul>
  );
}

const listedAtFirst = 25;

function ComingList(props: { readonly coming: readonly Event[]; readonly move: ActionQueue["add"] }) {
  const { coming, move } = props;
  const isWhole = route.value.query.get("list") === "all";
  const shown = isWhole ? coming : coming.slice(0, listedAtFirst);
  return (
    <>
      <ol class="list coming">
        {shown.map(({ at, kind, key, text }) => (
          <li key={`${at} ${kind} ${key} ${text}`}>
            <KindMark kind={kind} />
            <strong>
              <Until at={at} />
            </strong>
            <span>{key === null ? text : <a href={linkTo("keys", [key])}>{text}</a>}</span>
            <span class="muted">
              <InstantText at={at} precision="second" />
            </span>
            <button
              type="button"
              class="quiet"
              disabled={isOffline.value}
              onClick={() => move(() => moveTo(at))}
            >
              Go there <span class="visually-hidden">{text}</span>
            </button>
          </li>
        ))}
      </ol>
      {coming.length > shown.length ? (
        <button type="button" class="quiet" onClick={() => changeQuery({ list: "all" })}>
          Show {coming.length - shown.length} more
        </button>
      ) : null}
      {coming.length < 100 ? null : <p class="muted">This list shows only the next 100 events.</p>}
    </>
  );
}
