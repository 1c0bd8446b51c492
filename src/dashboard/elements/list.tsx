import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { changeQuery, route, withoutSecret } from "../control/route.js";
import { Button } from "./action.js";

/** How many rows a list draws at once, and at most. */
const drawnAtOnce = 200;
const mostDrawn = 1000;

/** The filter of a list. */
export const filterInAddress = () => withoutSecret(route.value.query.get("filter") ?? "");

/** How many rows a list shows at most, until the filter changes. */
export function limitInAddress(): number {
  const limit = Number.parseInt(route.value.query.get("limit") ?? "", 10);
  return limit > 0 ? Math.min(limit, mostDrawn) : drawnAtOnce;
}

/** The title of a long list, how much of it the filter leaves, and the filter, which the address keeps. */
export function ListHead(props: {
  readonly title: string;
  /** What the filter leaves of all rows in words, such as `15 keys`; `undefined` until they are read. */
  readonly count: { readonly matching: number; readonly total: number; readonly all: string } | undefined;
  /** What the filter finds. */
  readonly placeholder: string;
  /** Next to the title. */
  readonly children?: ComponentChildren;
}) {
  const { title, count, placeholder, children } = props;
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

/** The button that shows more of the rows that are left. */
export function MoreRows({ left }: Readonly<{ left: number }>) {
  if (left <= 0) return null;
  const limit = limitInAddress();
  if (limit === mostDrawn) return <p class="muted">{left.toLocaleString("en")} more: filter the list.</p>;
  const showMore = () => changeQuery({ limit: `${limit + drawnAtOnce}` });
  return <Button run={showMore}>Show {Math.min(left, drawnAtOnce)} more</Button>;
}

/** Keeps a row of a list in sight while it is opened or closed, because the rows above it move. A closed one gets the focus. */
export function useRowInSight(opened: string | undefined): void {
  const lastOpened = useRef(opened);
  useLayoutEffect(() => {
    const name = opened ?? lastOpened.current;
    lastOpened.current = opened;
    if (name === undefined) return;
    const row = document.querySelector(`[data-row="${CSS.escape(name)}"]`);
    if (row === null) return;

    // A narrow window shows the details in place of the list, and these start at their top.
    if (!row.checkVisibility()) scrollTo(0, 0);
    row.scrollIntoView({ block: "nearest" });
    if (opened === undefined) row.querySelector("a")?.focus({ preventScroll: true });
  }, [opened]);
}
