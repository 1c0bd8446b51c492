import { useResources } from "../../control/resource.js";
import { farmersStart } from "../../control/resources.js";
import { CopyButton } from "../../elements/copy-button.js";
import { LoadedPart } from "../../elements/loaded-part.js";
import { linkTo } from "../../route.js";

const loadPages = async () => (await import("./farmer-pages.js")).FarmerPages;

const population = "population: { farmers: 1000, locale: en }";

/** The synthetic farmers of the sandbox. The map and the records are loaded if the sandbox has any. */
export function FarmersView() {
  useResources(farmersStart);
  const { total } = farmersStart.data.value ?? {};
  if (total === 0) return <NoFarmers />;
  if (total === undefined) return <h1>Farmers</h1>;
  return <LoadedPart name="the map and records of the farmers" load={loadPages} />;
}

function NoFarmers() {
  return (
    <>
      <h1>Farmers</h1>
      <div class="panel empty">
        <p>
          This sandbox has no farmers, because its scenario sets <code>farmers: 0</code>. Remove that line to
          get 1,000 farmers, or set their number and region:
        </p>
        <pre>
          <code>{population}</code>
        </pre>
        <p>
          <CopyButton text={population} /> <a href={linkTo("scenario")}>Change the scenario</a>
        </p>
      </div>
    </>
  );
}
