import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { report } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { instantParts } from "../../elements/instant.js";
import { useKeyboard } from "../../elements/keyboard.js";
import { adviceTones, Target } from "../../elements/traffic/advice.js";
import { PathBadge, toneOf } from "../../elements/traffic/path-badge.js";
import { linkTo, route } from "../../route.js";
import { chosen, hold, isHeld } from "./chosen.js";

/** The number of extra rows drawn above and below the visible ones. */
const spare = 8;

/** The list of requests. It draws only the visible rows, so it can have any length. */
export function RequestList() {
  const box = useRef<HTMLDivElement>(null);
  const rowHeight = useSignal(28);
  const height = useSignal(600);
  const top = useSignal(0);
  // The row that the keys have moved to. It gets the focus when it is drawn.
  const current = useSignal<Shown<"Request"> | undefined>(undefined);

  useEffect(() => {
    const measure = () => {
      const element = box.current;
      if (element === null) return;
      height.value = element.clientHeight;
      rowHeight.value = element.querySelector("li")?.offsetHeight || rowHeight.peek();
    };
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);

  const rows = chosen.value;
  const opened = route.value.parts[0];
  const first = Math.max(0, Math.floor(top.value / rowHeight.value) - spare);
  const count = Math.ceil(height.value / rowHeight.value) + 2 * spare;
  const drawn = rows.slice(first, first + count);

  useLayoutEffect(() => {
    const { id } = current.peek() ?? {};
    if (id !== undefined) box.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus();
  }, [current.value]);

  // With the drawing: later, it would undo a reader's scrolling and lose a key press.
  useLayoutEffect(() => {
    if (!isHeld.value) box.current?.scrollTo({ top: 0 });
  }, [isHeld.value]);

  useKeyboard((event) => {
    const element = box.current;
    const step = stepOf(event);
    if (element === null || step === 0) return;
    event.preventDefault();
    hold();
    const list = chosen.peek();
    const at = list.findIndex(({ id }) => id === (current.peek()?.id ?? route.peek().parts[0]));
    const index = at === -1 ? 0 : Math.min(list.length - 1, Math.max(0, at + step));
    const above = index * rowHeight.peek();
    if (above < element.scrollTop) element.scrollTop = above;
    const below = above + rowHeight.peek() - element.clientHeight;
    if (below > element.scrollTop) element.scrollTop = below;
    top.value = element.scrollTop;
    current.value = list[index];
  });

  const onScroll = (event: Event) => {
    top.value = (event.currentTarget as HTMLElement).scrollTop;
    // Scrolling down pauses the list, so that the rows do not move.
    if (top.value > rowHeight.value) hold();
  };
  return (
    <div class="request-list" ref={box} onScroll={onScroll}>
      <ol
        style={{ height: `${rows.length * rowHeight.value}px`, paddingTop: `${first * rowHeight.value}px` }}
      >
        {drawn.map((request, index) => (
          <li key={request.id} aria-setsize={rows.length} aria-posinset={first + index + 1}>
            <Row
              request={request}
              day={dayOf(request) === dayOf(rows[first + index - 1]) ? undefined : dayOf(request)}
              isOpen={request.id === opened}
            />
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The number of rows that a key press moves by; 0 in a field and for other keys. */
function stepOf({ key, target }: KeyboardEvent): number {
  const at = target as Element;
  if (at.closest("input, select, textarea, dialog") !== null) return 0;
  // Elsewhere the arrows scroll.
  const isInList = at.closest(".request-list") !== null;
  if (key === "j" || (isInList && key === "ArrowDown")) return 1;
  return key === "k" || (isInList && key === "ArrowUp") ? -1 : 0;
}

/** The most severe level of advice. */
function levelOf(ids: Shown<"Request">["advice"]) {
  const found = (report.data.value?.advice ?? []).filter(({ id }) => ids.includes(id));
  const levels = Object.keys(adviceTones) as (keyof typeof adviceTones)[];
  return levels.find((level) => found.some((one) => one.level === level)) ?? "note";
}

const dayOf = (request: Shown<"Request"> | undefined) => request && instantParts(request.at)[0];

interface RowProps {
  readonly request: Shown<"Request">;
  /** Its day, if the row above has another one. */
  readonly day: string | undefined;
  readonly isOpen: boolean;
}

function Row({ request, day, isOpen }: RowProps) {
  const { id, at, key, fingerprint, status, path_id: pathId, fault, advice, source } = request;
  return (
    <a
      class={`request-row tone-${toneOf(pathId)}`}
      href={linkTo("requests", [id], Object.fromEntries(route.value.query))}
      aria-current={isOpen ? "true" : undefined}
      data-id={id}
    >
      <time dateTime={at} title={at}>
        {day === undefined ? null : <strong>{day}, </strong>}
        {instantParts(at)[1]}
      </time>
      <span class="request-status">{status === 0 ? "–" : status}</span>
      <Target request={request} />
      <PathBadge pathId={pathId} />
      <span class="request-key">
        <bdi>{key ?? fingerprint ?? "none"}</bdi>
        {source === "story" ? <span class="badge">story or page</span> : null}
        {fault === null ? null : (
          <span class="badge" title={fault}>
            fault<span class="visually-hidden"> set in this sandbox: {fault}</span>
          </span>
        )}
        {advice.length === 0 ? null : (
          <span class={`badge toned tone-${adviceTones[levelOf(advice)]}`} title={advice.join(", ")}>
            {levelOf(advice)}
            <span class="visually-hidden">: {advice.join(", ")}</span>
          </span>
        )}
      </span>
    </a>
  );
}
