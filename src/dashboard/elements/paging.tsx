import type { ComponentChildren } from "preact";
import { changeQuery } from "../route.js";

interface PagingProps {
  readonly page: number;
  readonly pages: number;
  /** The part of the list on this page, in words. */
  readonly children: ComponentChildren;
}

/** The buttons from page to page of a list; the number of the page stands in the address. */
export function Paging({ page, pages, children }: PagingProps) {
  const go = (to: number) => changeQuery({ page: to === 1 ? undefined : String(to) });
  return (
    <div class="pages">
      <output>{children}</output>
      {pages === 1 ? null : (
        <>
          <button type="button" class="quiet" disabled={page === 1} onClick={() => go(page - 1)}>
            Previous
          </button>
          <button type="button" class="quiet" disabled={page === pages} onClick={() => go(page + 1)}>
            Next
          </button>
        </>
      )}
    </div>
  );
}
