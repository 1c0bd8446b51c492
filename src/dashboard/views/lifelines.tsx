import { call } from "../control/call.js";
import { now, useData } from "../control/data.js";
import type { ControlData, ShownRequest } from "../control/responses.js";
import { useShared } from "../control/shared.js";
import { Button, RejectionText, useActions } from "../elements/action.js";
import { TimeAxis } from "../elements/axis.js";
import { toneOf } from "../elements/request-parts.js";
import { counted, instantParts, instantText } from "../elements/words.js";

// What keys got, get and will get, along the sandbox's clock. The sandbox tells the phases of each key: nothing is predicted here.

type ShownLifeline = ControlData[`/lifelines?${string}`]["lifelines"][number];
type ShownPhase = ShownLifeline["phases"][number];
type UpcomingEvent = ControlData["/upcoming"][number];

const hour = 3_600_000;

/** A position on the axis for CSS, to a tenth of a percent: about a pixel. */
const percent = (position: number) => `${(100 * position).toFixed(1)}%`;

/** What the pictures of all keys have in common. */
interface Picture {
  readonly axis: TimeAxis;
  readonly now: number;
  /** What happens to these keys when the clock gets there, earliest first. */
  readonly events: readonly UpcomingEvent[];
  /** Oldest first. */
  readonly requests: readonly ShownRequest[];
}

/** The lines of keys. `left`: how many keys are not drawn. `canMove`: whether an event can be pressed, which moves the clock. */
export function Lifelines(props: {
  readonly lines: readonly ShownLifeline[];
  readonly left: number;
  readonly linkTo: (ref: string) => string;
  readonly canMove?: boolean;
}) {
  const { lines, left, linkTo, canMove = false } = props;
  const { data: upcoming } = useData("/upcoming");
  const { data: requests = [] } = useData("/requests?limit=200");
  const { frozen } = useData("/clock").data ?? {};
  const time = useShared(now);
  const { enqueue, problem } = useActions();
  const move = (to: string) => enqueue(() => call("/clock", { method: "PUT", body: { now: to } }));

  // The names have their places before the rest is read.
  const isRead = upcoming !== undefined && !Number.isNaN(time);
  const picture = isRead && pictureOf(lines, requests, upcoming, time);
  const rows = lines.map((line, index) => {
    const isFirst = lines[index - 1]?.organization !== line.organization;
    const hasPredecessor = lines.some(({ key }) => key === line.replaces);
    return (
      <li key={line.key} class={isFirst ? "first" : ""}>
        <a href={linkTo(line.key)}>
          {hasPredecessor && <span aria-hidden="true">↳ </span>}
          {line.key}
        </a>
        {picture && <Lifeline line={line} picture={picture} />}
      </li>
    );
  });
  // A frozen clock moves in steps, which glide. One that runs moves each second: to glide then would never end.
  return (
    <>
      <div class={frozen ? "lifelines-picture gliding" : "lifelines-picture"}>
        {picture && <Stations picture={picture} move={canMove ? move : undefined} />}
        <ul>{rows}</ul>
      </div>
      <p class="muted small">
        Dots: requests. Bars: what the next ones get; dashed: not sure. Not to scale.
        {left > 0 && ` Only ${lines.length} keys are drawn: those used last, then those that end.`}
      </p>
      <RejectionText problem={problem} />
    </>
  );
}

/** The axis goes from the first thing that is known of the keys to the last: an hour or more. */
function pictureOf(
  lines: readonly ShownLifeline[],
  requests: readonly ShownRequest[],
  upcoming: readonly UpcomingEvent[],
  time: number,
): Picture {
  const refs = new Set<string | null>(lines.map(({ key }) => key));
  const changes = new Set<number>();
  for (const { phases } of lines) {
    for (const [index, phase] of phases.entries()) {
      // From when it was read on, a key's life is known: no change of it.
      const startsWithReading = phases[index - 1]?.outcome === null && !isOver(phase);
      if (phase.from !== null && !startsWithReading) changes.add(Date.parse(phase.from));
    }
  }
  const events = upcoming.filter(({ at, kind, key }) => {
    const instant = Date.parse(at);
    // After a jump, the list contains past events until it is read again.
    if (instant <= time) return false;
    // Each minute ends: that matters if a key waits for it.
    return changes.has(instant) || (kind !== "minute_reset" && (key === null || refs.has(key)));
  });
  const sent = requests.filter(({ key }) => refs.has(key));

  const instants = [...events.map(({ at }) => Date.parse(at)), ...changes];
  const thisHour = Math.floor(time / hour) * hour;
  const first = Math.min(thisHour, ...instants, ...sent.map(({ at }) => Date.parse(at)));
  const last = Math.max(thisHour + hour, ...instants);
  return { axis: new TimeAxis([first, ...instants, last], time), now: time, events, requests: sent };
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
  readonly picture: Picture;
  /** Moves the clock to an event. */
  readonly move: ((to: string) => void) | undefined;
}

/** Now, and the names of the stations with what happens there. */
function Stations({ picture, move }: StationsProps) {
  const { axis, now: time } = picture;
  const items = axis.stations.map((at, index) => (
    <li key={at} style={{ left: percent(axis.positionOf(at)) }}>
      <Station at={at} index={index} picture={picture} move={move} />
    </li>
  ));
  return (
    <ol class="lifelines-axis" aria-label="Events">
      {items}
      <li class="now" aria-hidden="true" style={{ left: percent(axis.positionOf(time)) }}>
        <span>now {instantParts(time).time.slice(0, 5)}</span>
      </li>
    </ol>
  );
}

/** The name of a station, and what happens there and before the next one. If something does, its name is a button. */
function Station({
  at,
  index,
  picture,
  move,
}: StationsProps & { readonly at: number; readonly index: number }) {
  const { stations } = picture.axis;
  const next = stations[index + 1] ?? Number.POSITIVE_INFINITY;
  const events = picture.events.filter((event) => Date.parse(event.at) >= at && Date.parse(event.at) < next);
  const here = events.filter((event) => Date.parse(event.at) === at);
  const later = events.length - here.length;
  const texts = events.map(({ text }) => text).join(", ");
  const words = here[0] && eventWords[here[0].kind];

  const { name, dayBelow } = stationName(at, stations[index - 1], picture.now);
  const iso = new Date(at).toISOString();
  const time = (
    <time dateTime={iso} title={`${instantText(at)} ${texts}`}>
      {name}
    </time>
  );
  return (
    <>
      {move && here.length > 0 ? (
        <Button class="quiet" run={() => move(iso)}>
          {time}
          <span class="visually-hidden"> Go there: {texts}</span>
        </Button>
      ) : (
        <span>{time}</span>
      )}
      {events.length > 0 && (
        <span class="muted">
          {words} {later > 0 && `+${later}`}
        </span>
      )}
      {dayBelow && <span class="muted">{dayBelow}</span>}
    </>
  );
}

/** `09:30`, with the day below where that differs from the station before; in another year than now, the day with the year. */
function stationName(at: number, before: number | undefined, time: number) {
  const { day, year, date, time: timeOfDay } = instantParts(at);
  if (year !== instantParts(time).year) return { name: day, dayBelow: year };
  const isSameDay = before !== undefined && date === instantParts(before).date;
  return { name: timeOfDay.slice(0, 5), dayBelow: !isSameDay && day };
}

/** How far a dot is left of one that has come since, in pixels. */
const dotShift = 9;

/** The life of one key: a line behind, a bar ahead, and its requests; the same in words. */
function Lifeline({ line, picture }: { readonly line: ShownLifeline; readonly picture: Picture }) {
  const { axis, now: time } = picture;
  const requests = picture.requests.filter(({ key }) => key === line.key);
  const bars = barsOf(line.phases, picture).map(({ from, to, kind, outcome, words }, index) => {
    const left = axis.positionOf(from);
    const style = { left: percent(left), width: percent(axis.positionOf(to) - left) };
    return (
      <span key={index} class={`phase ${kind} tone-${toneOf(outcome ?? "")}`} style={style}>
        {/* Words that do not fit are in a second line, which is hidden. */}
        <span class="phase-words" aria-hidden="true">
          {words}
        </span>
      </span>
    );
  });
  const dots = axis.dotsOf(requests).map(({ position, outcome, count, newer }, index) => {
    // 8 pixels for one request, 12 for a hundred, at most 14.
    const size = `${8 + Math.min(6, Math.round(2 * Math.log10(count)))}px`;
    // Centered, and left of the dots that have come since.
    const translate = `calc(-50% - ${dotShift * newer}px) -50%`;
    const style = { left: percent(position), width: size, height: size, translate };
    const title = `${counted(count, "request")}: ${outcome}`;
    return <span key={index} class={`dot tone-${toneOf(outcome)}`} title={title} style={style} />;
  });
  const end = line.phases.find(isOver)?.from;
  return (
    <>
      <div class="lifeline" aria-hidden="true">
        {bars}
        {end && <span class="end" style={{ left: percent(axis.positionOf(Date.parse(end))) }} />}
        {dots}
      </div>
      <span class="visually-hidden">: {lifeInWords(line.phases, time, requests.length)}</span>
    </>
  );
}

const isOver = ({ outcome }: ShownPhase) => outcome?.startsWith("401.") === true;

/** A part of a line, with its instants. */
interface Bar extends Pick<ShownPhase, "outcome"> {
  readonly from: number;
  to: number;
  readonly kind: string;
  readonly words: string;
}

/** The bars of phases, from left to right. What is before now is a line: of that, only the requests are known. */
function barsOf(phases: readonly ShownPhase[], { axis, now: time }: Picture) {
  const first = axis.stations[0] as number; // an axis has two
  const last = axis.stations.at(-1) as number;
  const bars: Bar[] = [];
  for (const phase of phases) {
    const { outcome } = phase;
    const from = phase.from === null ? first : Date.parse(phase.from);
    const to = phase.until === null ? last : Date.parse(phase.until);
    if (from === to) continue;
    if (from < time) {
      const kind = isOver(phase) ? "ended" : "past";
      const before = bars.at(-1);
      const end = Math.min(to, time);
      if (before?.kind === kind) before.to = end;
      else bars.push({ from, to: end, kind, outcome, words: "" });
    }
    if (to > time) {
      bars.push({ from: Math.max(from, time), to, kind: kindOf(phase), outcome, words: phaseWords(phase) });
    }
  }
  return bars;
}

/** How a phase is drawn. */
function kindOf(phase: ShownPhase): string {
  const { outcome, sure } = phase;
  if (outcome === null || !sure) return "unknown";
  if (isOver(phase)) return "ended";
  if (outcome === "200.retiring") return "retiring";
  if (outcome.startsWith("200.")) return "works";
  return outcome.startsWith("429.") ? "limited" : "rejected";
}

/** What a request gets in as few words as a bar has room for: `403 access_denied`, `429`, `works`; empty if nobody knows. */
function phaseWords(phase: ShownPhase): string {
  const { outcome, until, sure, may_fault: mayFault } = phase;
  if (outcome === null) return "";
  const [status = "", cause = ""] = outcome.split(".");
  if (status === "fault") return outcome;
  if (mayFault) {
    const many = sure ? "all" : "some";
    // The faults are in one line with the result, or not shown.
    return `${status} (${many} get a fault)`.replaceAll(/ (?!\()/g, "\u00A0");
  }
  if (isOver(phase)) return cause;
  if (status === "200") return cause === "retiring" ? "works (retiring)" : "works";
  if (status === "429") return until === null ? "429 always" : "429";
  return `${status} ${cause}`;
}

/** A life in words, after the name of its key: `works (retiring), from 2 Mar 2026, 09:30:00 UTC rotated, 2 requests`. */
function lifeInWords(phases: readonly ShownPhase[], time: number, requestCount: number): string {
  const parts: string[] = [];
  for (const phase of phases) {
    if (phase.until !== null && Date.parse(phase.until) <= time) continue;
    let words = phaseWords(phase) || "unknown";
    if (parts.length > 0 && phase.from !== null) words = `from ${instantText(phase.from)} ${words}`;
    parts.push(words);
  }
  parts.push(counted(requestCount, "request"));
  return parts.join(", ");
}
