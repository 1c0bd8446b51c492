import { useData } from "../control/data.js";
import { now } from "../control/now.js";
import type { ListedKey, UpcomingEvent } from "../control/responses.js";
import { useShared } from "../control/shared.js";
import { Button, RejectionText, useActions } from "../elements/action.js";
import { groupIntoDots } from "../elements/dots.js";
import { keyEnd, lifeSentence } from "../elements/key-life.js";
import { lifePhases } from "../elements/life-phases.js";
import { chooseKeys, type LifelineData, selectLifelineData } from "../elements/lifeline-data.js";
import { toneOf } from "../elements/request-parts.js";
import { counted, instantParts, instantText } from "../elements/text.js";
import { setClock } from "./clock.js";

/** A position on the axis for CSS, to a tenth of a percent: about a pixel. */
const percent = (position: number) => `${(100 * position).toFixed(1)}%`;

interface LifelinesProps {
  readonly keys: readonly ListedKey[];
  /** How many of them are drawn: those that were used last, then those that end. */
  readonly max: number;
  /** The address of a key. */
  readonly linkTo: (ref: string) => string;
  /** Whether an event can be pressed, which moves the clock. */
  readonly canMove?: boolean;
}

/** What keys got, get and will get, along the sandbox's clock. */
export function Lifelines({ keys, max, linkTo, canMove = false }: LifelinesProps) {
  const { data: upcoming } = useData("/upcoming");
  const { data: requests = [] } = useData("/requests?limit=200");
  const { data: faults = [] } = useData("/faults");
  const { frozen } = useData("/clock").data ?? {};
  const time = useShared(now);
  const { enqueue, problem } = useActions();

  const shownKeys = chooseKeys(keys, requests, max);
  // The names have their places before the rest is read.
  const isRead = upcoming !== undefined && !Number.isNaN(time);
  const data = isRead ? selectLifelineData(shownKeys, { requests, upcoming, faults }, time) : undefined;
  const move = (to: string) => enqueue(() => setClock({ now: to }));

  const rows = shownKeys.map((key, index) => {
    const isFirst = shownKeys[index - 1]?.organization !== key.organization;
    const hasPredecessor = shownKeys.some(({ ref }) => ref === key.replaces);
    return (
      <li key={key.ref} class={isFirst ? "first" : ""}>
        <a href={linkTo(key.ref)}>
          {hasPredecessor && <span aria-hidden="true">↳ </span>}
          {key.ref}
        </a>
        {data && <Lifeline listed={key} data={data} />}
      </li>
    );
  });
  // A frozen clock moves in steps, which glide. One that runs moves each second: to glide then would never end.
  return (
    <>
      <div class={frozen ? "lifelines-picture gliding" : "lifelines-picture"}>
        {data && <Stations data={data} move={canMove ? move : undefined} />}
        <ul>{rows}</ul>
      </div>
      <p class="muted small">
        Dots are requests, bars what the next ones get, red marks the ends of keys.
        {keys.length > max && ` Only ${max} keys are drawn: those used last, then those that end.`}
      </p>
      <RejectionText problem={problem} />
    </>
  );
}

/** What happens at a station, in one word. */
const eventWords: Readonly<Record<UpcomingEvent["kind"], string>> = {
  overlap_ends: "ends",
  key_expires: "expires",
  minute_reset: "resets",
  day_reset: "resets",
  timeline_step: "step",
  fault_begins: "fault",
  fault_ends: "no fault",
};

interface StationsProps {
  readonly data: LifelineData;
  /** Moves the clock to an event. */
  readonly move: ((to: string) => void) | undefined;
}

/** Now, and the names of the stations with what happens there. */
function Stations({ data, move }: StationsProps) {
  const { axis, now: time } = data;
  const { stations, positionOf } = axis;
  const items = stations.map((at, index) => (
    <li key={at} style={{ left: percent(positionOf(at)) }}>
      <Station at={at} before={stations[index - 1]} data={data} move={move} />
    </li>
  ));
  return (
    <ol class="lifelines-axis" aria-label="Events">
      {items}
      <li class="now" aria-hidden="true" style={{ left: percent(positionOf(time)) }}>
        <span>now {instantParts(time).time.slice(0, 5)}</span>
      </li>
    </ol>
  );
}

interface StationProps extends StationsProps {
  readonly at: number;
  /** The station before; `undefined` for the first one. */
  readonly before: number | undefined;
}

/** The name of a station, and what happens there. If something does, its name is a button. */
function Station({ at, before, data, move }: StationProps) {
  const { name, dayBelow } = stationName(at, before, data.now);
  const iso = new Date(at).toISOString();
  const happening = data.events.filter((event) => Date.parse(event.at) === at);
  const texts = happening.map(({ text }) => text).join(", ");
  const kind = happening[0]?.kind;
  const time = (
    <time dateTime={iso} title={`${instantText(at)} ${texts}`}>
      {name}
    </time>
  );
  return (
    <>
      {move && kind ? (
        <Button class="quiet" run={() => move(iso)}>
          {time}
          <span class="visually-hidden"> Go there: {texts}</span>
        </Button>
      ) : (
        <span>{time}</span>
      )}
      {kind && <span class="muted">{eventWords[kind]}</span>}
      {dayBelow && <span class="muted">{dayBelow}</span>}
    </>
  );
}

interface StationName {
  readonly name: string;
  /** Below the name; empty where the station before has the same. */
  readonly dayBelow: string;
}

/** `09:30`, with the day where that differs from the station before; in another year than now, the day with the year. */
function stationName(at: number, before: number | undefined, now: number): StationName {
  const { day, year, date, time } = instantParts(at);
  if (year !== instantParts(now).year) return { name: day, dayBelow: year };
  const isSameDay = before !== undefined && date === instantParts(before).date;
  return { name: time.slice(0, 5), dayBelow: isSameDay ? "" : day };
}

/** The width in pixels of a dot for so many requests: 8 for one, 12 for a hundred, at most 14. */
function dotSize(count: number): number {
  return 8 + Math.min(6, Math.round(2 * Math.log10(count)));
}

/** How far a dot is left of one that has come since, in pixels. */
const dotShift = 9;

/** The life of one key: a line behind, a bar ahead, and its requests; the same in words. */
function Lifeline({ listed: key, data }: { readonly listed: ListedKey; readonly data: LifelineData }) {
  const { positionOf } = data.axis;
  const requests = data.requests.filter((request) => request.key === key.ref);

  const bars = lifePhases(key, data).map(({ from, to, kind, words }, index) => {
    const left = positionOf(from);
    const style = { left: percent(left), width: percent(positionOf(to) - left) };
    return (
      <span key={index} class={`phase ${kind}`} style={style}>
        {/* Words that do not fit are in a second line, which is hidden. */}
        <span class="phase-words" aria-hidden="true">
          {words}
        </span>
      </span>
    );
  });
  const dots = groupIntoDots(requests, data.axis).map(({ position, outcome, count, newer }, index) => {
    const size = `${dotSize(count)}px`;
    // Centered, and left of the dots that have come since.
    const translate = `calc(-50% - ${dotShift * newer}px) -50%`;
    const style = { left: percent(position), width: size, height: size, translate };
    const title = `${counted(count, "request")}: ${outcome}`;
    return <span key={index} class={`dot tone-${toneOf(outcome)}`} title={title} style={style} />;
  });
  const end = keyEnd(key);
  return (
    <>
      <div class={`lifeline tone-${toneOf(key.next_request.outcome)}`} aria-hidden="true">
        {bars}
        {end && <span class="end" style={{ left: percent(positionOf(Date.parse(end))) }} />}
        {dots}
      </div>
      <span class="visually-hidden">: {lifeSentence(key, requests)}</span>
    </>
  );
}
