import { useResource } from "../../control/resource.js";
import type { Farmer } from "../../control/responses.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Fact } from "../../elements/fact.js";
import { Table } from "../../elements/table.js";
import { capitalized, codeWords, counted } from "../../elements/words.js";
import { linkTo } from "../../route.js";

const languageNames = new Intl.DisplayNames("en", { type: "language" });
const countryNames = new Intl.DisplayNames("en", { type: "region" });

export function countryName(code: string): string {
  return countryNames.of(code) ?? code;
}

export function OneFarmer({ id, year }: { readonly id: string; readonly year: number }) {
  // Another scenario has other farmers.
  const { data, problem } = useResource<Farmer>(`/farmers/${encodeURIComponent(id)}`, ["world."]);
  return (
    <>
      <p>
        <a href={linkTo("farmers")}>All farmers</a>
      </p>
      {problem.value === undefined ? null : (
        <>
          <h1>Farmer</h1>
          <p class="notice warning" role="alert">
            {problem.value.message}
          </p>
        </>
      )}
      {problem.value === undefined && data.value === undefined ? <h1>Farmer</h1> : null}
      {problem.value === undefined && data.value !== undefined ? (
        <Facts farmer={data.value} year={year} />
      ) : null}
    </>
  );
}

function Facts({ farmer, year }: { readonly farmer: Farmer; readonly year: number }) {
  const { name, location, household, cooperative, livestock, parcels } = farmer;
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
          <Fact name="Household">
            {counted(household.group_size, "member")},{" "}
            {household.is_head ? "headed by this farmer" : "headed by someone else"}
          </Fact>
          <Fact name="Farm">
            {number(farmer.farm_area_ha)} ha, {farmer.farmer_type}
          </Fact>
          <Fact name="Livestock">
            {livestock.length === 0
              ? "none"
              : livestock.map(({ type, count }) => `${number(count)} ${type}`).join(", ")}
          </Fact>
          <Fact name="Cooperative">
            {cooperative === null ? (
              "none"
            ) : (
              <>
                <bdi>{cooperative.name}</bdi>, since {cooperative.member_since}{" "}
                <code>{cooperative.cooperative_id}</code>
              </>
            )}
          </Fact>
        </dl>
      </section>
      <Records
        title="Land"
        records={parcels.map(({ id, properties }, index) => ({ field: index + 1, id, ...properties }))}
      />
      <Records
        title="Seasons"
        records={parcels.flatMap(({ properties }, index) =>
          properties.seasons.map((season) => ({ field: index + 1, ...season })),
        )}
      />
      <Records title="Insurance" records={farmer.insurance} />
      <Records title="Loans" records={farmer.loans} />
    </>
  );
}

// The same for all fields, in another table, or in another column with other words.
const hidden = /^(collection|synthetic|seasons|metrics:area|crop:code|crop:code_list|crop_code)$/;

interface RecordsProps {
  readonly title: string;
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

function Records({ title, records }: RecordsProps) {
  const names = Object.keys(records[0] ?? {}).filter((name) => !hidden.test(name));
  return (
    <section class="stack records">
      <h2>{title}</h2>
      {records.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <Table
          label={title}
          columns={names.map((name) => capitalized(codeWords(name).replace(":", " ")))}
          rows={records.map((one, row) => ({
            key: String(row),
            cells: names.map((name) => cellOf(one[name])),
          }))}
        />
      )}
    </section>
  );
}

function cellOf(value: unknown) {
  const text = textOf(value);
  return /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) ? <time dateTime={text}>{text.slice(0, 10)}</time> : text;
}

function textOf(value: unknown): string {
  if (value === null) return "–";
  if (Array.isArray(value)) return value.map(textOf).join("; ") || "none";
  if (typeof value === "object") return Object.values(value).map(textOf).join(" ");
  return typeof value === "number" ? number(value) : String(value);
}

function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 4 });
}
