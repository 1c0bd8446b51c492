import { useSignal } from "@preact/signals";
import { changeQuery } from "../../route.js";
import { type Choice, countsOf, type Facet } from "./facets.js";
import type { FarmerRow } from "./population.js";

const mostAtFirst = 10;

interface FacetBarsProps {
  readonly facet: Facet;
  readonly farmers: readonly FarmerRow[];
  readonly choice: Choice;
  readonly year: number;
}

/** The number of farmers in each group of a facet, as bars. Each bar is a button that selects its group. */
export function FacetBars({ facet, farmers, choice, year }: FacetBarsProps) {
  const showsAll = useSignal(false);
  const counts = countsOf(facet, farmers, choice, year);
  const chosen = choice[facet.name];
  const most = Math.max(1, ...counts.map(([, count]) => count));
  const shown = counts.filter(
    ([group], position) => showsAll.value || position < mostAtFirst || group === chosen,
  );
  const titleId = `facet-${facet.name}`;
  return (
    <section class="facet" aria-labelledby={titleId}>
      <h2 id={titleId}>{facet.title}</h2>
      <ul>
        {shown.map(([group, count]) => (
          <li key={group}>
            <button
              type="button"
              class="quiet"
              aria-pressed={group === chosen}
              onClick={() =>
                changeQuery({ [facet.name]: group === chosen ? undefined : group, page: undefined })
              }
            >
              <span>{facet.label(group)}</span>
              <Bar share={count / most} />
              <span class="facet-count">{count.toLocaleString("en")}</span>
            </button>
          </li>
        ))}
      </ul>
      {counts.length > mostAtFirst ? (
        <button
          type="button"
          class="quiet more"
          aria-expanded={showsAll.value}
          onClick={() => {
            showsAll.value = !showsAll.value;
          }}
        >
          {showsAll.value ? "Show fewer" : `Show all ${counts.length}`}
        </button>
      ) : null}
    </section>
  );
}

function Bar({ share }: { readonly share: number }) {
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bar-ground" width="100" height="10" />
      <rect class="bar-share" width={100 * share} height="10" />
    </svg>
  );
}
