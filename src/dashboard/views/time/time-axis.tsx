import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Shown } from "../../control/responses.js";
import { firstEndOf, hasEnded, stateShapes, stateTones } from "../../elements/key-state.js";
import { shortened } from "../../elements/words.js";
import { kinds } from "./kind-mark.js";
import { type Span, ticksIn } from "./span.js";

type Event = Shown<"Upcoming">;
type Key = Shown<"ListedKey">;

interface TimeAxisProps {
  readonly span: Span;
  readonly now: number;
  readonly lanes: readonly Key[];
  readonly coming: readonly Event[];
  /** The element that describes the same events as text. */
  readonly describedBy: string;
}

const head = 46;
const barHeight = 10;
const labelRoom = 76;
const letterWidth = 7.2;

/** A place on the axis: pixels from its left edge. */
type Place = (at: number) => number;

/** Time from left to right, with a lane for each key, marks for coming events, and a line for now. */
export function TimeAxis({ span, now, lanes, coming, describedBy }: TimeAxisProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry?.contentRect.width ?? 0);
    });
    observer.observe(box.current as HTMLDivElement);
    return () => observer.disconnect();
  }, []);
  // The names are next to the lanes on a wide page, and above them on a narrow one.
  const isWide = width.value >= 640;
  const left = isWide ? 290 : 16;
  const right = width.value - 8;
  const laneHeight = isWide ? 36 : 54;
  const height = head + lanes.length * laneHeight + 8;
  const place: Place = (at) =>
    left +
    ((Math.min(Math.max(at, span.start), span.end) - span.start) / (span.end - span.start)) * (right - left);
  const topOf = (number: number) => head + number * laneHeight + (isWide ? 12 : 36);
  const letters = Math.floor((isWide ? left - 16 : right - left) / letterWidth);
  const shown = coming.filter(({ at }) => Date.parse(at) <= span.end);
  return (
    <div class="time-axis" ref={box}>
      {width.value === 0 ? null : (
        <svg
          width={width.value}
          height={height}
          role="img"
          aria-label="Keys over time; the list below shows the next events"
          aria-describedby={describedBy}
        >
          <Ticks span={span} place={place} from={left} to={right} height={height} />
          {shown.map((event) => (
            <EventLine key={`${event.at} ${event.text}`} event={event} place={place} height={height} />
          ))}
          {lanes.map((key, number) => (
            <Lane key={key.ref} of={key} place={place} now={now} to={right} top={topOf(number)} />
          ))}
          <line class="now-line" x1={place(now)} x2={place(now)} y1="32" y2={height} />
          <text class="now-label" x={place(now)} y="28" text-anchor="middle">
            now
          </text>
          {lanes.map(({ ref, next_request: { verdict } }, number) => {
            const [x, y] = [isWide ? 8 : left + 6, topOf(number) + (isWide ? 2 : -20)];
            return (
              <g key={ref}>
                <text class="lane-label" x={x} y={y}>
                  {shortened(ref, letters - 1)}
                </text>
                <text class="lane-label lane-verdict" x={x} y={y + 14}>
                  {verdict.split(": ")[0]}
                  <title>{verdict}</title>
                </text>
              </g>
            );
          })}
        </svg>
      )}
    </div>
  );
}

function Ticks(props: {
  readonly span: Span;
  readonly place: Place;
  readonly from: number;
  readonly to: number;
  readonly height: number;
}) {
  const { span, place, from, to, height } = props;
  const anchorAt = (x: number) => (x < from + 30 ? "start" : x > to - 30 ? "end" : "middle");
  return (
    <g class="ticks">
      {ticksIn(span, (to - from) / labelRoom).map(({ at, label }) => (
        <g key={at}>
          <line x1={place(at)} x2={place(at)} y1="16" y2={height} />
          <text x={place(at)} y="12" text-anchor={anchorAt(place(at))}>
            {label}
          </text>
        </g>
      ))}
    </g>
  );
}

function EventLine(props: { readonly event: Event; readonly place: Place; readonly height: number }) {
  const { event, place, height } = props;
  const { at, kind, text } = event;
  const x = place(Date.parse(at));
  return (
    <g class={`time-event tone-${kinds[kind].tone}`}>
      <title>{text}</title>
      <line x1={x} x2={x} y1="44" y2={height} />
      <path d={kinds[kind].shape} fill-rule="evenodd" transform={`translate(${x - 5} 33)`} />
    </g>
  );
}

interface LaneProps {
  readonly of: Key;
  readonly place: Place;
  readonly now: number;
  readonly to: number;
  readonly top: number;
}

/**
 * A key as a bar from now until its end, followed by the shape of its end and dots. Its past is unknown.
 *
 * The bar is green while the key gets 200, also after a limit resets.
 */
function Lane({ of: key, place, now, to, top }: LaneProps) {
  const { ref, state, next_request: next } = key;
  const gets200 = next.status === 200;
  const works = !hasEnded(key);
  const end = firstEndOf(key);
  const endsAt = end === null ? to : place(Date.parse(end));
  // A limit ends no later than the key.
  const limitEndsAt = next.until === null ? endsAt : Math.min(endsAt, place(Date.parse(next.until)));
  const [from, middle] = [place(now), top + barHeight / 2];
  const becomes = works ? (key.expires_at === end ? "expired" : "rotated") : state;
  return (
    <g class={`lane state-${state}`} data-key={ref}>
      {works ? <Bar name={gets200 ? "works" : "rejected"} from={from} to={limitEndsAt} top={top} /> : null}
      {next.until === null ? null : <Bar name="works" from={limitEndsAt} to={endsAt} top={top} />}
      {state === "retiring" ? <Hatching from={from} to={endsAt} top={top} /> : null}
      {end === null ? null : (
        <>
          <line class="over" x1={endsAt} x2={to} y1={middle} y2={middle} />
          <path
            class={`end tone-${stateTones[becomes]} state-${becomes}`}
            d={stateShapes[becomes]}
            fill-rule="evenodd"
            transform={`translate(${endsAt - 7} ${top - 2}) scale(1.4)`}
          />
        </>
      )}
    </g>
  );
}

interface BarProps {
  readonly from: number;
  readonly to: number;
  readonly top: number;
}

function Bar({ name, from, to, top }: BarProps & { readonly name: string }) {
  return <rect class={name} x={from} y={top} width={Math.max(0, to - from)} height={barHeight} rx="2" />;
}

function Hatching({ from, to, top }: BarProps) {
  const id = useId();
  return (
    <>
      <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="hatch" width="3" height="6" />
      </pattern>
      <rect x={from} y={top} width={Math.max(0, to - from)} height={barHeight} rx="3" fill={`url(#${id})`} />
    </>
  );
}
