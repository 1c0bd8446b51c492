import type { ComponentChildren } from "preact";
import { now } from "../control/data.js";
import { useShared } from "../control/shared.js";

/** A text of any length, cut off after so many characters. */
export function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The name of a file without its folders. */
export function fileName(file: string): string {
  return file.replace(/.*[\\/]/, "");
}

/** The name of a scenario's file without its extension. */
export function withoutExtension(name: string): string {
  return name.replace(/\.ya?ml$/, "");
}

/** A number with its noun: `1 request`, `1,200 requests`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A time in UTC: `2 Mar 2026, 09:00:00 UTC`. Every time on the page has this format, or one of its two parts. */
export function instantText(at: string | number): string {
  const { date, time } = instantParts(at);
  return `${date}, ${time}\u00A0UTC`;
}

/** The parts of a time: `2 Mar`, `2026`, `2 Mar 2026`, `09:00:00`. */
export function instantParts(at: string | number) {
  const [, dayOfMonth, month, year = "", time = ""] = new Date(at).toUTCString().split(" ");
  const day = `${Number(dayOfMonth)} ${month}`;
  return { day, year, date: `${day} ${year}`, time };
}

/** A time of the sandbox, with the exact one as a tooltip; nothing for an unknown time. */
export function InstantText({ at }: Readonly<{ at: string | number }>) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return null;
  const iso = time.toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {instantText(iso)}
    </time>
  );
}

const isoTime = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** A sentence of the sandbox. The exact times in it are shown as the page shows every time. */
export function Sentence({ children }: Readonly<{ children: string }>) {
  // Every second part is a time.
  const parts = children.split(isoTime);
  return <bdi>{parts.map((part, index) => (index % 2 === 0 ? part : <InstantText at={part} />))}</bdi>;
}

/** The units of a duration in milliseconds, the largest first. */
const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** A duration of a second or more in its two largest units: `1 h 5 min`. */
function durationText(milliseconds: number): string {
  let rest = Math.round(milliseconds / 1000) * 1000;
  const parts = [];
  for (const [unit, length] of units) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count}\u00A0${unit}`);
  }
  return parts.slice(0, 2).join(" ");
}

/**
 * The time until or since an instant on the sandbox's clock: `in 29 min`, `5 min ago`. The view must keep `now` up to date.
 *
 * A past event is never shown as a future one, even if the page's clock lags.
 */
export function Until({ at, hasHappened = false }: { readonly at: string; readonly hasHappened?: boolean }) {
  let left = Date.parse(at) - useShared(now);
  if (Number.isNaN(left)) return null;
  if (hasHappened) left = Math.min(0, left);

  const duration = durationText(Math.max(Math.abs(left), 1000));
  let words = "just now";
  if (left > 0) words = `in ${duration}`;
  if (left < 0) words = `${duration} ago`;
  return <span title={at}>{words}</span>;
}

/** Names and values; a pair without a value is left out, but not one with an empty text. */
export function FactList(props: {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
  readonly class: string;
}) {
  const rows = props.facts.map(([name, value]) => {
    if (!value && value !== "") return null;
    return (
      <div key={name}>
        <dt>{name}</dt>
        <dd dir="auto">{value === "" ? <span class="muted">empty</span> : value}</dd>
      </div>
    );
  });
  return <dl class={props.class}>{rows}</dl>;
}

/** A part of a view with its title. */
export function Panel(props: {
  readonly title: string;
  /** The name in the address of what can be linked to. */
  readonly name?: string;
  readonly note?: ComponentChildren;
  /** Next to the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const { title, name, note, actions, children } = props;
  return (
    <section class="panel stack" id={name && `section-${name}`} aria-label={title}>
      <header class="bar apart">
        <h2>{title}</h2>
        {actions}
      </header>
      {note && <p class="muted">{note}</p>}
      {children}
    </section>
  );
}

/** A page of the documentation. It opens in a new tab. */
export function DocsLink({ to, children }: { readonly to: string; readonly children: ComponentChildren }) {
  return (
    <a href={`./docs/${to}`} target="_blank" rel="noopener">
      {children}
    </a>
  );
}
