import { useData } from "../control/data.js";
import { now } from "../control/now.js";
import type { Event, ListedKey, Request } from "../control/responses.js";
import { useShared } from "../control/shared.js";
import { Button, RejectionText, useActions } from "../elements/action.js";
import {
  chooseKeys,
  createAxis,
  groupIntoDots,
  keyEnd,
  keyStart,
  lifePhases,
  nextStep,
  relevantEvents,
  type TimeAxis,
} from "../elements/life.js";
import { toneOf } from "../elements/traffic.js";
import { counted, instantParts, instantText } from "../elements/words.js";
import { setClock } from "./clock.js";

/** A place on the axis, as CSS and SVG need it. */
const percent = (place: number) => `${(100 * place).toFixed(2)}%`;

interface LivesProps {
  readonly keys: readonly ListedKey[];
  /** How many of them are drawn at most. */
  readonly max: number;
  /** The address of a key. */
  readonly linkTo: (ref: string) => string;
  /** Whether an event can be pressed, which moves the clock. */
  readonly canMove?: boolean;
}

/** What keys got, get and will get, along the sandbox's clock. */
export function Lives({ keys, max, linkTo, canMove = false }: LivesProps) {
  const { data: upcoming } = useData("/upcoming");
  const { data: requests = [] } = useData("/requests?limit=200");
  const time = useShared(now);
  const { enqueue, problem } = useActions();
  if (keys.length === 0) return null;

  const shown = chooseKeys(keys, requests, max);
  const own = requests.filter(({ key }) => shown.some(({ ref }) => ref === key));
  const events = relevantEvents(shown, upcoming ?? [], time);
  // The names have their places before the rest is read.
  const axis = upcoming && !Number.isNaN(time) ? createAxis(shown, events, own, time) : undefined;
  const left = keys.length - shown.length;
  const move = (to: string) => enqueue(() => setClock({ now: to }));
  return (
    <section class="panel lives" aria-label="Lives of the keys">
      <h2>Lives of the keys</h2>
      <div class="lives-picture">
        {axis && <Stations axis={axis} events={events} time={time} move={canMove ? move : undefined} />}
        <ul>
          {shown.map((key, index) => (
            <li key={key.ref} class={shown[index - 1]?.organization === key.organization ? "" : "first"}>
              <a href={linkTo(key.ref)}>
                {shown.some(({ ref }) => ref === key.replaces) && <span aria-hidden="true">↳ </span>}
                {key.ref}
              </a>
              {axis && (
                <Life listed={key} keys={shown} events={events} time={time} axis={axis} requests={own} />
              )}
            </li>
          ))}
        </ul>
      </div>
      <p class="muted small">
        Dots are requests, bars show what the next ones get.
        {left > 0 && ` And ${counted(left, "more key")}.`}
      </p>
      <RejectionText problem={problem} />
    </section>
  );
}

/** What happens at a station, in one word. */
const eventWords: Readonly<Record<Event["kind"], string>> = {
  overlap_ends: "ends",
  key_expires: "expires",
  minute_reset: "resets",
  day_reset: "resets",
  timeline_step: "step",
  fault_begins: "fault",
  fault_ends: "no fault",
};

interface StationsProps {
  readonly axis: TimeAxis;
  readonly events: readonly Event[];
  readonly time: number;
  /** Moves the clock to an event. */
  readonly move: ((to: string) => void) | undefined;
}

/** Now, and the names of the stations with what happens there. */
function Stations({ axis, events, time, move }: StationsProps) {
  const { stations, placeOf } = axis;
  return (
    <ol class="lives-axis" aria-label="Events">
      {stations.map((at, index) => {
        const [name, more] = stationName(at, stations[index - 1] ?? 0, time);
        const iso = new Date(at).toISOString();
        const here = events.filter((event) => Date.parse(event.at) === at);
        const texts = here.map(({ text }) => text).join(", ");
        const shown = (
          <time dateTime={iso} title={`${instantText(at)} ${texts}`}>
            {name}
          </time>
        );
        return (
          <li key={at} style={{ left: percent(placeOf(at)) }}>
            {move && texts ? (
              <Button class="quiet" run={() => move(iso)}>
                {shown}
                <span class="visually-hidden"> Go there: {texts}</span>
              </Button>
            ) : (
              <span>{shown}</span>
            )}
            {here[0] && <span class="muted">{eventWords[here[0].kind]}</span>}
            {more && <span class="muted">{more}</span>}
          </li>
        );
      })}
      <li class="now" aria-hidden="true" style={{ left: percent(placeOf(time)) }}>
        <span>now {instantParts(time)[1].slice(0, 5)}</span>
      </li>
    </ol>
  );
}

/** Two lines: `09:30`, and the day where that differs from the station before. In another year than now, the day and the year. */
function stationName(at: number, before: number, time: number): readonly [name: string, more: string] {
  const [day, clock] = instantParts(at);
  const [, dayOfYear = "", year = ""] = /^(.*) (\d+)$/.exec(day) ?? [];
  if (!instantParts(time)[0].endsWith(year)) return [dayOfYear, year];
  return [clock.slice(0, 5), day === instantParts(before)[0] ? "" : dayOfYear];
}

interface LifeProps {
  readonly listed: ListedKey;
  readonly keys: readonly ListedKey[];
  readonly events: readonly Event[];
  readonly time: number;
  readonly axis: TimeAxis;
  readonly requests: readonly Request[];
}

/** The life of one key: a line behind, a bar ahead, and its requests. */
function Life({ listed: key, keys, events, time, axis, requests }: LifeProps) {
  const { placeOf, stations } = axis;
  const { ref, state, next_request: next } = key;
  const sent = requests.filter((request) => request.key === ref);
  const end = keyEnd(key);
  const phases = lifePhases(key, {
    now: time,
    start: keyStart(key, keys, sent, time) ?? (stations[0] as number),
    step: nextStep(key, events),
    last: stations.at(-1) as number,
  });
  return (
    <>
      <svg class={`life tone-${toneOf(next.outcome)}`} aria-hidden="true">
        {phases.map(({ from, to, course, words }) => {
          const place = { x: percent(placeOf(from)), width: percent(placeOf(to) - placeOf(from)) };
          return (
            <g key={from} class={course}>
              <rect {...place} />
              <svg {...place} aria-hidden="true">
                <text x="9" y="14">
                  {words}
                </text>
              </svg>
            </g>
          );
        })}
        {end && <rect class="end" x={percent(placeOf(Date.parse(end)))} />}
        {groupIntoDots(sent, axis).map(({ place, outcome, count, newer }, index) => (
          <circle
            key={index}
            class={`tone-${toneOf(outcome)}`}
            cx={percent(place)}
            r={4 + Math.min(3, Math.log10(count))}
            transform={`translate(${-9 * newer})`}
          >
            <title>{`${counted(count, "request")}: ${outcome}`}</title>
          </circle>
        ))}
      </svg>
      <span class="visually-hidden">
        : {state}, gets {next.sentence}
        {end && `, ends ${instantText(end)}`}, {counted(sent.length, "request")}
      </span>
    </>
  );
}
