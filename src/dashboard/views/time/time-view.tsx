import { now, useNow } from "../../control/now.js";
import { useResources } from "../../control/resource.js";
import { clock, keys, upcoming } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { isOffline } from "../../control/revision.js";
import { type ActionQueue, RejectionText, useActionQueue } from "../../elements/forms/action.js";
import { InstantText, Until } from "../../elements/instant.js";
import { Table } from "../../elements/table.js";
import { linkTo } from "../../route.js";
import { ClockControls, moveTo } from "./clock-controls.js";

type Event = Shown<"Upcoming">;
type Key = Shown<"ListedKey">;

/** The clock, and what it will change. */
export function TimeView() {
  useResources(keys, upcoming);
  useNow();
  const changes = useActionQueue();
  // After a jump, the list contains past events until it is read again.
  const coming = (upcoming.data.value ?? []).filter(({ at }) => !(Date.parse(at) <= now.value));
  return (
    <>
      <div class="bar">
        <h1>Time</h1>
        <span class="badge time-state">{clock.data.value?.frozen ? "frozen" : "running"}</span>
      </div>
      <section class="panel stack" aria-label="Clock">
        <p class="large">
          <InstantText at={now.value} />
        </p>
        <ClockControls next={nextEvent(coming, keys.data.value ?? [])} changes={changes} />
        <RejectionText problem={upcoming.problem.value ?? keys.problem.value} />
      </section>
      <section class="panel stack" aria-labelledby="coming-title">
        <h2 id="coming-title">Next events</h2>
        <Table
          label="List of events"
          columns={["When", "Event", "Time", "Clock"]}
          rows={coming.map((event) => ({
            key: `${event.at} ${event.kind} ${event.key} ${event.text}`,
            cells: cellsOf(event, changes.add),
          }))}
        />
        {coming.length < 100 ? null : <p class="muted">This list shows only the next 100 events.</p>}
      </section>
    </>
  );
}

const isReset = (kind: Event["kind"]) => kind === "minute_reset" || kind === "day_reset";

/** The first event that changes something. The reset of an unused limit changes nothing. */
function nextEvent(coming: readonly Event[], all: readonly Key[]): Event | undefined {
  const isUsed = {
    minute_reset: all.some(({ usage }) => usage.this_minute > 0),
    day_reset: all.some(({ usage }) => usage.today > 0),
  };
  return coming.find(({ kind }) => !isReset(kind) || isUsed[kind as keyof typeof isUsed]) ?? coming[0];
}

function cellsOf({ at, key, text }: Event, move: ActionQueue["add"]) {
  return [
    <Until key="in" at={at} />,
    key === null ? (
      text
    ) : (
      <a key="event" href={linkTo("keys", [key])}>
        {text}
      </a>
    ),
    <InstantText key="time" at={at} />,
    <button
      key="go"
      type="button"
      class="quiet"
      disabled={isOffline.value}
      onClick={() => move(() => moveTo(at))}
    >
      Go there <span class="visually-hidden">{text}</span>
    </button>,
  ];
}
