import { useResources } from "../../control/resource.js";
import { clock } from "../../control/resources.js";
import { linkTo, route } from "../../route.js";
import { consents, previewIsOn, useConsents } from "./consent-resources.js";
import { ConsentsPage } from "./consents.js";
import { FacetBars } from "./facet-bars.js";
import { type Choice, chosenFarmers, facets } from "./facets.js";
import { FarmerList } from "./farmer-list.js";
import { FarmerMap } from "./farmer-map.js";
import { OneFarmer } from "./one-farmer.js";
import { population, usePopulation } from "./population.js";
import { YieldPlot } from "./yield-plot.js";

/** The pages of the view: all farmers, one farmer, and consents. */
export function FarmerPages() {
  useResources(clock, previewIsOn);
  const [part] = route.value.parts;
  const year = new Date(clock.data.value?.now ?? Date.now()).getUTCFullYear();
  if (part === undefined) return <AllFarmers year={year} />;
  if (part === "consents") return <ConsentsPage />;
  return <OneFarmer key={part} id={part} year={year} />;
}

function AllFarmers({ year }: { readonly year: number }) {
  usePopulation();
  const { total, wanted, farmers, problem } = population.value;
  const { query } = route.value;
  const choice: Choice = Object.fromEntries(
    facets.flatMap(({ name }) => (query.has(name) ? [[name, query.get(name)]] : [])),
  );
  const chosen = chosenFarmers(farmers, choice, year);
  const isChosen = new Set(chosen);
  const others = chosen.length === farmers.length ? [] : farmers.filter((farmer) => !isChosen.has(farmer));
  const isAllChosen = Object.keys(choice).length === 0;
  return (
    <>
      <header class="farmers-head">
        <h1>Farmers</h1>
        <p class="muted">
          {total.toLocaleString("en")} synthetic farmers.{" "}
          {wanted < total ? `The first ${wanted.toLocaleString("en")} are shown. ` : ""}
          {farmers.length < wanted ? <Reading read={farmers.length} wanted={wanted} /> : null}
        </p>
        {previewIsOn.data.value ? <ConsentsLink /> : null}
      </header>
      {problem === undefined ? null : (
        <p class="notice" role="alert">
          Failed to read the farmers after the first {farmers.length}: {problem.message} This page tries again
          when the sandbox responds.
        </p>
      )}
      <FarmerMap chosen={chosen} others={others} choice={JSON.stringify(choice)} />
      <p class="chosen">
        <span role="status">
          {isAllChosen
            ? "Choose a bar to see only its farmers."
            : `${chosen.length.toLocaleString("en")} of ${farmers.length.toLocaleString("en")} farmers selected.`}
        </span>
        {isAllChosen ? null : <a href={linkTo("farmers")}>Show all farmers</a>}
      </p>
      <div class="facets">
        {facets.map((facet) => (
          <FacetBars key={facet.name} facet={facet} farmers={farmers} choice={choice} year={year} />
        ))}
        <YieldPlot farmers={chosen} crop={choice.crop} />
      </div>
      <FarmerList farmers={chosen} year={year} />
    </>
  );
}

function Reading({ read, wanted }: { readonly read: number; readonly wanted: number }) {
  return (
    <label>
      Reading… <progress value={read} max={wanted} />
    </label>
  );
}

function ConsentsLink() {
  useConsents();
  return (
    <a href={linkTo("farmers", ["consents"])}>
      Consents and attestations ({consents.data.value?.length ?? 0})
    </a>
  );
}
