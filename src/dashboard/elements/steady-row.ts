import { Component, type ComponentChildren } from "preact";

// A row that is opened or closed stays under the pointer. The rows above it may change their height, because another row
// closes there, and a narrow window shows the details of a row in place of the list. So the place of the row is measured
// before the page changes, and the window is scrolled afterwards until the row is there again.

interface SteadyRowProps {
  /** The name of the open row, as in its attribute `data-row`. */
  readonly opened: string | undefined;
  /** The list, and what is open. */
  readonly children: ComponentChildren;
}

/** Where a row was before it was opened or closed. */
interface RowPlace {
  readonly row: HTMLElement;
  /** Where it started in the window. */
  readonly top: number;
  /** Whether its list was shown: a narrow window hides it while a row is open. */
  readonly wasShown: boolean;
}

/** A list that keeps a row in its place while it is opened or closed. A row that is closed gets the focus. */
export class SteadyRow extends Component<SteadyRowProps> {
  /** Where the row was that was opened or closed last. */
  #lastPlace: RowPlace | undefined;

  override render(): ComponentChildren {
    return this.props.children;
  }

  /** Measures the row before the page changes. Preact hands the result to `componentDidUpdate`. */
  override getSnapshotBeforeUpdate(before: SteadyRowProps): RowPlace | undefined {
    const { opened } = this.props;
    if (opened === before.opened) return undefined;

    // A request that was just sent again has no row yet, and a filter may have removed one: then the last row counts.
    const last = this.#lastPlace;
    const row = findRow(opened ?? before.opened) ?? last?.row;
    if (row === undefined) return undefined;

    // A row in a hidden list, or that was scrolled out of sight, returns to where it was opened.
    const wasShown = row.checkVisibility();
    const topNow = wasShown ? topInSight(row) : undefined;
    this.#lastPlace = { row, top: topNow ?? last?.top ?? 0, wasShown };
    return this.#lastPlace;
  }

  override componentDidUpdate(_before: SteadyRowProps, _state: object, place: RowPlace | undefined): void {
    if (place === undefined) return;
    const { row, top, wasShown } = place;
    const isShown = row.checkVisibility();
    if (isShown) scrollBy(0, row.getBoundingClientRect().top - top);
    // The details that replace the list start at their top.
    if (wasShown && !isShown) scrollTo(0, 0);
    if (this.props.opened === undefined) row.querySelector("a")?.focus({ preventScroll: true });
  }
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
