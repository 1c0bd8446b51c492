import { useResources } from "../../control/resource.js";
import { clock } from "../../control/resources.js";
import { Paging } from "../../elements/paging.js";
import { Read } from "../../elements/read.js";
import { Table } from "../../elements/table.js";
import { capitalized } from "../../elements/words.js";
import { changeQuery, linkTo, route } from "../../route.js";
import { countryName, OneFarmer } from "./one-farmer.js";
import { type FarmerRow, population } from "./population.js";

export function FarmerPages() {
  useResources(clock);
  const [part] = route.value.parts;
  const year = new Date(clock.data.value?.now ?? Date.now()).getUTCFullYear();
  if (part === undefined) return <AllFarmers year={year} />;
  return <OneFarmer key={part} id={part} year={year} />;
}

function AllFarmers({ year }: { readonly year: number }) {
  const text = route.value.query.get("find") ?? "";
  return (
    <>
      <h1>Farmers</h1>
      <Read of={population}>
        {({ total, farmers }) => (
          <>
            <p class="muted">
              {total.toLocaleString("en")} synthetic farmers.
              {farmers.length < total ? ` The first ${farmers.length.toLocaleString("en")} are shown.` : ""}
            </p>
            <FarmerList found={foundFarmers(farmers, text.trim().toLowerCase())} text={text} year={year} />
          </>
        )}
      </Read>
    </>
  );
}

const pageLength = 25;

interface FarmerListProps {
  readonly found: readonly FarmerRow[];
  readonly text: string;
  readonly year: number;
}

function FarmerList({ found, text, year }: FarmerListProps) {
  const pages = Math.max(1, Math.ceil(found.length / pageLength));
  const page = Math.min(pages, Math.max(1, Number(route.value.query.get("page")) || 1));
  const from = (page - 1) * pageLength;
  return (
    <section class="stack farmer-list" aria-labelledby="farmer-list">
      <h2 id="farmer-list">Records</h2>
      <div class="bar">
        <label>
          Find{" "}
          <input
            type="search"
            value={text}
            placeholder="name, place, crop, number or id"
            onInput={(event) => changeQuery({ find: event.currentTarget.value, page: undefined })}
          />
        </label>
        {/^farmer_[0-9a-f]{16}$/.test(text.trim()) && found.length === 0 ? (
          <a href={linkTo("farmers", [text.trim()])}>Open {text.trim()}</a>
        ) : null}
      </div>
      <Table
        label="Farmers"
        columns={["Name", "No.", "Region", "Farm, ha", "Age", "Crops"]}
        numbers={["No.", "Farm, ha", "Age"]}
        rows={found.slice(from, from + pageLength).map((farmer) => ({
          key: farmer.farmer_id,
          cells: [
            <a key="name" href={linkTo("farmers", [farmer.farmer_id])}>
              <bdi>{farmer.name}</bdi>
            </a>,
            farmer.index.toLocaleString("en"),
            `${farmer.region}, ${countryName(farmer.country_code)}`,
            farmer.farm_area_ha.toLocaleString("en", { maximumFractionDigits: 2 }),
            year - farmer.birth_year,
            capitalized(farmer.crops.join(", ")),
          ],
        }))}
      />
      <Paging page={page} pages={pages}>
        {found.length === 0
          ? "No matching farmers."
          : `${(from + 1).toLocaleString("en")} to ${Math.min(from + pageLength, found.length).toLocaleString("en")} of ${found.length.toLocaleString("en")}`}
      </Paging>
    </section>
  );
}

function foundFarmers(farmers: readonly FarmerRow[], text: string): readonly FarmerRow[] {
  if (text === "") return farmers;
  return farmers.filter(
    ({ name, region, country_code: country, crops, farmer_id: id, index }) =>
      id === text ||
      String(index) === text ||
      [name, region, countryName(country), ...crops].join("\n").toLowerCase().includes(text),
  );
}
