import { useSignal } from "@preact/signals";
import { capitalized } from "../../elements/words.js";
import { countsOf, facets, type Yields, yieldsOf } from "./facets.js";
import type { FarmerRow } from "./population.js";

const cropFacet = facets.find(({ name }) => name === "crop") as (typeof facets)[number];
const height = 60;

interface YieldPlotProps {
  /** The farmers with the shown harvests. */
  readonly farmers: readonly FarmerRow[];
  /** The crop selected in the bars. */
  readonly crop: string | undefined;
}

/** The yields of one crop as a histogram. Default: the most common crop. */
export function YieldPlot({ farmers, crop }: YieldPlotProps) {
  const picked = useSignal<string | undefined>(undefined);
  const crops = countsOf(cropFacet, farmers, {}, 0).map(([name]) => name);
  const names = [picked.value, crop, crops[0]];
  const shown = names.find((name) => name !== undefined && crops.includes(name));
  if (shown === undefined) return null;
  const yields = yieldsOf(farmers, shown);
  return (
    <section class="facet yields" aria-labelledby="facet-yields">
      <h2 id="facet-yields">Yields</h2>
      <label>
        Crop{" "}
        <select
          value={shown}
          onChange={(event) => {
            picked.value = event.currentTarget.value;
          }}
        >
          {crops.map((name) => (
            <option key={name} value={name}>
              {capitalized(name)}
            </option>
          ))}
        </select>
      </label>
      {yields === undefined ? (
        <p class="muted">No harvests yet.</p>
      ) : (
        <Histogram yields={yields} crop={shown} />
      )}
    </section>
  );
}

function Histogram({ yields, crop }: { readonly yields: Yields; readonly crop: string }) {
  const { bins, width, median, usual, harvests } = yields;
  const most = Math.max(...bins);
  const end = bins.length * width;
  const text = (kg: number) => kg.toLocaleString("en", { maximumFractionDigits: 0 });
  const about = `${text(harvests)} harvests: median ${text(median)} kg/ha, 90% between ${text(usual[0])} and ${text(usual[1])} kg/ha.`;
  return (
    <>
      <svg
        class="histogram"
        viewBox={`0 0 ${bins.length * 10} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Yields of ${crop}. ${about}`}
      >
        {bins.map((count, position) => {
          const tall = (height * count) / most;
          // A bin never moves.
          const key = position;
          return (
            <rect
              key={key}
              class="bar-share"
              x={position * 10 + 0.5}
              width="9"
              y={height - tall}
              height={tall}
            />
          );
        })}
        <line
          class="median"
          x1={(median / end) * bins.length * 10}
          x2={(median / end) * bins.length * 10}
          y1="0"
          y2={height}
        />
      </svg>
      <p class="axis" aria-hidden="true">
        <span>0</span>
        <span>{text(end)} kg/ha</span>
      </p>
      <p class="muted">{about}</p>
    </>
  );
}
