import type { ComponentChildren } from "preact";
import { changeQuery, route, withQuery } from "../route.js";

const rowsOnAPage = 50;

/** The number of the page in the address, and the path of its rows. */
export function pageOf(path: string, query: Parameters<typeof withQuery>[1] = {}) {
  const page = Math.max(1, Number(route.value.query.get("page") ?? 1) || 1);
  const offset = String((page - 1) * rowsOnAPage);
  return { page, path: withQuery(path, { ...query, offset, limit: String(rowsOnAPage) }) };
}

/** The number of pages of a list. */
export const pagesOf = (total: number) => Math.max(1, Math.ceil(total / rowsOnAPage));

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
