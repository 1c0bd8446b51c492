import { Paging } from "../../elements/paging.js";
import { Table } from "../../elements/table.js";
import { capitalized } from "../../elements/words.js";
import { changeQuery, linkTo, route } from "../../route.js";
import { countryName } from "./facets.js";
import type { FarmerRow } from "./population.js";

const pageLength = 25;

/** The farmers that match a search, in pages. */
export function FarmerList({
  farmers,
  year,
}: {
  readonly farmers: readonly FarmerRow[];
  readonly year: number;
}) {
  const { query } = route.value;
  const text = query.get("find") ?? "";
  const found = farmers.filter((farmer) => isFoundBy(farmer, text.trim().toLowerCase()));
  const pages = Math.max(1, Math.ceil(found.length / pageLength));
  const page = Math.min(pages, Math.max(1, Number(query.get("page")) || 1));
  const from = (page - 1) * pageLength;
  return (
    <section class="farmer-list" aria-labelledby="farmer-list">
      <h2 id="farmer-list">Records</h2>
      <div class="list-tools">
        <label>
          Find{" "}
          <input
            type="search"
            value={text}
            placeholder="name, region, number or id"
            onInput={(event) => changeQuery({ find: event.currentTarget.value, page: undefined })}
          />
        </label>
        {/^farmer_[0-9a-f]{16}$/.test(text.trim()) && found.length === 0 ? (
          <a href={linkTo("farmers", [text.trim()])}>Open {text.trim()}</a>
        ) : null}
      </div>
      <Table
        label="Farmers"
        columns={["No.", "Name", "Region", "Farm, ha", "Age", "Crops"]}
        numbers={["Farm, ha", "Age"]}
      >
        {found.slice(from, from + pageLength).map((farmer) => (
          <tr key={farmer.farmer_id}>
            <td class="muted">{farmer.index}</td>
            <th scope="row">
              <a href={linkTo("farmers", [farmer.farmer_id])}>
                <bdi>{farmer.name}</bdi>
              </a>
            </th>
            <td>
              {farmer.region}, {countryName(farmer.country_code)}
            </td>
            <td class="number">{farmer.farm_area_ha.toLocaleString("en", { maximumFractionDigits: 2 })}</td>
            <td class="number">{year - farmer.birth_year}</td>
            <td>{capitalized(farmer.crops.join(", "))}</td>
          </tr>
        ))}
      </Table>
      <Paging page={page} pages={pages}>
        {found.length === 0
          ? "No matching farmers."
          : `${(from + 1).toLocaleString("en")} to ${Math.min(from + pageLength, found.length).toLocaleString("en")} of ${found.length.toLocaleString("en")}`}
      </Paging>
    </section>
  );
}

function isFoundBy({ name, region, farmer_id: id, index }: FarmerRow, text: string): boolean {
  if (text === "" || id === text || String(index) === text) return true;
  return `${name} ${region}`.toLowerCase().includes(text);
}
