import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { changeQuery, route } from "../route.js";
import { Button } from "./action.js";

const looksLikeSecret = /svc_(test|live)_\w/i;

/** A text for an address, which must not contain a secret. */
export const withoutSecret = (text: string) => (looksLikeSecret.test(text) ? "" : text);

export const filterInAddress = () => withoutSecret(route.value.query.get("filter") ?? "");

const drawnAtOnce = 200;

/** How many rows a list shows at most: the address keeps that, until the filter changes. */
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
  const filter = ({ currentTarget: input }: Readonly<{ currentTarget: HTMLInputElement }>) => {
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
            {count.matching === count.total ? null : `${count.matching.toLocaleString("en")} of `}
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
          onInput={filter}
        />
        {isRejected && (
          <p class="rejection small" role="status">
            This looks like a secret, which would become part of the address. Filter by a ref or fingerprint.
          </p>
        )}
      </search>
    </>
  );
}

/** The button that shows more of the rows that are left. */
export function MoreRows({ left }: Readonly<{ left: number }>) {
  if (left <= 0) return null;
  const more = () => changeQuery({ limit: String(limitInAddress() + drawnAtOnce) });
  return <Button run={more}>Show {Math.min(left, drawnAtOnce)} more</Button>;
}
