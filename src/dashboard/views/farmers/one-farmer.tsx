import { useResource } from "../../control/resource.js";
import type { Shown } from "../../control/responses.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Fact } from "../../elements/fact.js";
import { RejectionText } from "../../elements/forms/action.js";
import { Table } from "../../elements/table.js";
import { capitalized } from "../../elements/words.js";
import { linkTo } from "../../route.js";
import { ParcelPicture } from "./parcel-picture.js";

const languageNames = new Intl.DisplayNames("en", { type: "language" });
const countryNames = new Intl.DisplayNames("en", { type: "region" });

export function countryName(code: string): string {
  return countryNames.of(code) ?? code;
}

export function OneFarmer({ id, year }: { readonly id: string; readonly year: number }) {
  // Another scenario has other farmers.
  const { data, problem } = useResource<Shown<"Farmer">>(`/farmers/${encodeURIComponent(id)}`, ["world."]);
  return (
    <>
      <p>
        <a href={linkTo("farmers")}>All farmers</a>
      </p>
      {problem.value === undefined && data.value !== undefined ? (
        <Facts farmer={data.value} year={year} />
      ) : (
        <h1>Farmer</h1>
      )}
      <RejectionText problem={problem.value} />
    </>
  );
}

function Facts({ farmer, year }: { readonly farmer: Shown<"Farmer">; readonly year: number }) {
  const { name, location, livestock, parcels } = farmer;
  return (
    <>
      <header class="bar">
        <h1>
          <bdi>
            {name.given_name} {name.surname}
          </bdi>
        </h1>
        <p class="muted">
          Synthetic. <code>{farmer.farmer_id}</code>
        </p>
        <CopyButton text={JSON.stringify(farmer, null, 2)}>Copy as JSON</CopyButton>
      </header>
      <section class="panel stack">
        <h2>Person and farm</h2>
        <dl class="facts">
          <Fact name="Lives in">
            {location.subdivision_name} ({location.subdivision_code}), {countryName(location.country_code)}
          </Fact>
          <Fact name="Born">
            {farmer.birth_year} (age {year - farmer.birth_year}), {farmer.sex}
          </Fact>
          <Fact name="Language">
            {languageNames.of(farmer.language)} (<code>{farmer.language}</code>)
          </Fact>
          <Fact name="Farm">
            {number(farmer.farm_area_ha)} ha, {farmer.farmer_type}
          </Fact>
          <Fact name="Livestock">
            {livestock.length === 0
              ? "none"
              : livestock.map(({ type, count }) => `${number(count)} ${type}`).join(", ")}
          </Fact>
        </dl>
      </section>
      <section class="stack records">
        <h2>Fields</h2>
        <ParcelPicture parcels={parcels} />
        <Table
          label="Fields"
          columns={columns.map((name) => capitalized(name.replace(/[:_]/g, " ")))}
          rows={parcels.map(({ id, properties }, index) => {
            const field: Readonly<Record<string, unknown>> = { field: index + 1, id, ...properties };
            return { key: id, cells: columns.map((name) => cellOf(field[name])) };
          })}
        />
      </section>
    </>
  );
}

const columns = [
  "field",
  "id",
  "area_ha",
  "crop:name",
  "irrigation",
  "land_type",
  "land_ownership",
  "metrics:perimeter",
  "determination:method",
  "determination:datetime",
];

function cellOf(value: unknown) {
  const text = typeof value === "number" ? number(value) : String(value);
  return /^\d{4}-\d{2}-\d{2}T/.test(text) ? <time dateTime={text}>{text.slice(0, 10)}</time> : text;
}

function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 4 });
}
