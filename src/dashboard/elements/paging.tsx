import type { ComponentChildren } from "preact";
import { changeQuery } from "../route.js";

interface PagingProps {
  readonly page: number;
  readonly pages: number;
  readonly children: ComponentChildren;
}

/** The buttons between the pages of a list. The address contains the page number. */
export function Paging({ page, pages, children }: PagingProps) {
  const go = (to: number) => changeQuery({ page: to === 1 ? undefined : String(to) });
  return (
    <div class="bar pages">
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
