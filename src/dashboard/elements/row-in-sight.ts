import { useLayoutEffect, useRef } from "preact/hooks";

/** Keeps a row of a list in sight while it is opened or closed, because the rows above it move. A closed one gets the focus. */
export function useRowInSight(opened: string | undefined): void {
  const lastOpened = useRef(opened);
  useLayoutEffect(() => {
    const name = opened ?? lastOpened.current;
    lastOpened.current = opened;
    const row = document.querySelector(`[data-row="${CSS.escape(`${name}`)}"]`);
    if (row === null) return;

    // A narrow window shows the details in place of the list, and these start at their top.
    if (!row.checkVisibility()) scrollTo(0, 0);
    row.scrollIntoView({ block: "nearest" });
    if (opened === undefined) row.querySelector("a")?.focus({ preventScroll: true });
  }, [opened]);
}
