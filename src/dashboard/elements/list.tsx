import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { changeQuery, route } from "../route.js";
import { Button } from "./action.js";

const looksLikeSecret = /svc_(test|live)_\w/i;

/** How many rows a list draws at once. */
const drawnAtOnce = 200;

/** A text for an address, which must not contain a secret: empty if it looks like one. */
export const withoutSecret = (text: string) => (looksLikeSecret.test(text) ? "" : text);

/** The filter of a list. */
export const filterInAddress = () => withoutSecret(route.value.query.get("filter") ?? "");

/** How many rows a list shows at most, until the filter changes. */
export const limitInAddress = () => Number(route.value.query.get("limit")) || drawnAtOnce;

interface ListHeadProps {
  readonly title: string;
  /** What the filter leaves of all rows in words, such as `15 keys`; `undefined` until they are read. */
  readonly count: { readonly matching: number; readonly total: number; readonly all: string } | undefined;
  /** What the filter finds. */
  readonly placeholder: string;
  /** Next to the title. */
  readonly children?: ComponentChildren;
}

/** The title of a long list, how much of it the filter leaves, and the filter, which the address keeps. */
export function ListHead({ title, count, placeholder, children }: ListHeadProps) {
  const [isRejected, setRejected] = useState(false);
  // A text that looks like a secret leaves the field at once.
  const change = ({ currentTarget: input }: Readonly<{ currentTarget: HTMLInputElement }>) => {
    const filter = withoutSecret(input.value);
    setRejected(filter !== input.value);
    input.value = filter;
    changeQuery({ filter, limit: undefined });
  };
  return (
    <>
      <header class="bar">
        <h1>{title}</h1>
        {count && (
          <span class="muted">
            {count.matching !== count.total && `${count.matching.toLocaleString("en")} of `}
            {count.all}
          </span>
        )}
        {children}
      </header>
      <search class="filter">
        <input
          type="search"
          aria-label="Filter"
          placeholder={placeholder}
          value={filterInAddress()}
          onInput={change}
        />
        {isRejected && (
          <p class="rejection small" role="status">
            This looks like a secret. Filter by a ref or fingerprint.
          </p>
        )}
      </search>
    </>
  );
}

export const showMoreRows = () => changeQuery({ limit: String(limitInAddress() + drawnAtOnce) });

/** The button that shows more of the rows that are left. */
export function MoreRows({ left }: Readonly<{ left: number }>) {
  if (left <= 0) return null;
  return <Button run={showMoreRows}>Show {Math.min(left, drawnAtOnce)} more</Button>;
}

/** What a list noted when one of its rows was opened or closed last. */
interface LastChange {
  /** The name of the row that is open since then. */
  readonly opened: string | undefined;
  /** The row that was opened or closed. */
  readonly row: HTMLElement | undefined;
  /** Where it started in the window. */
  readonly top: number;
}

/**
 * A row that is opened or closed stays where it was, however the rows above it change. One that is not in sight returns
 * to where it was opened. A row that is closed gets the focus.
 */
export function useSteadyRow(opened: string | undefined): void {
  const lastChange = useRef<LastChange>({ opened, row: undefined, top: 0 });
  const before = lastChange.current;
  const isChange = opened !== before.opened;

  // Measured before the drawing. The list may no longer have the row: then that of the last change counts.
  const row = isChange ? (findRow(opened ?? before.opened) ?? before.row) : undefined;
  const wasDrawn = row?.checkVisibility() === true;
  // On the way back, the browser has scrolled already, and the row may be out of sight.
  const top = (wasDrawn ? topInSight(row) : undefined) ?? before.top;

  useLayoutEffect(() => {
    lastChange.current = { opened, row, top };
    if (row === undefined) return;
    if (row.checkVisibility()) scrollBy(0, row.getBoundingClientRect().top - top);
    // In a narrow window, the details replace the list, and start at their top.
    else if (wasDrawn) scrollTo(0, 0);
    if (opened === undefined) row.querySelector("a")?.focus({ preventScroll: true });
  }, [opened]);
}

function findRow(name: string | undefined): HTMLElement | undefined {
  const selector = `[data-row="${CSS.escape(`${name}`)}"]`;
  return document.querySelector<HTMLElement>(selector) ?? undefined;
}

/** Where an element starts in the window; `undefined` if that is out of sight. */
function topInSight(element: HTMLElement): number | undefined {
  const { top } = element.getBoundingClientRect();
  return top >= 0 && top < innerHeight ? top : undefined;
}
