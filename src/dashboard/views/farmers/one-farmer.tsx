import type { ComponentChildren } from "preact";
import type { Farmer } from "../../control/answers.js";
import { useResource } from "../../control/resource.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Fact } from "../../elements/fact.js";
import { Table } from "../../elements/table.js";
import { capitalized, codeWords, counted } from "../../elements/words.js";
import { linkTo } from "../../route.js";
import { ConsentList, previewIsOn } from "./consents.js";

const languageNames = new Intl.DisplayNames("en", { type: "language" });
const countryNames = new Intl.DisplayNames("en", { type: "region" });

export function countryName(code: string): string {
  return countryNames.of(code) ?? code;
}

/** One farmer with all facts, fields and consents. */
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
  const { name, location, household, cooperative, livestock } = farmer;
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
      <Fields farmer={farmer} />
      <Seasons farmer={farmer} />
      <Insurance farmer={farmer} />
      <Loans farmer={farmer} />
      {previewIsOn.data.value ? (
        <section class="stack records">
          <h2>Consents and attestations</h2>
          <ConsentList farmerId={farmer.farmer_id} />
        </section>
      ) : null}
    </>
  );
}

interface RecordsProps {
  readonly title: string;
  readonly columns: readonly string[];
  /** The cells of each row, starting with its heading. */
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly none?: string;
}

function Records({ title, columns, rows, none = "None." }: RecordsProps) {
  return (
    <section class="stack records">
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="muted">{none}</p>
      ) : (
        <Table
          label={title}
          columns={columns}
          rows={rows.map((cells, row) => ({ key: String(row), cells }))}
        />
      )}
    </section>
  );
}

function Fields({ farmer: { parcels } }: { readonly farmer: Farmer }) {
  const rows = parcels.map(({ id, properties }, index) => [
    `Field ${index + 1}`,
    capitalized(properties["crop:name"]),
    `${number(properties.area_ha)} ha, ${number(properties["metrics:perimeter"])} m perimeter`,
    `${codeWords(properties.land_ownership)}, ${codeWords(properties.land_type)}`,
    properties.irrigation,
    `${codeWords(properties["determination:method"])}, ${properties["determination:datetime"].slice(0, 10)}`,
    <code key="id">{id}</code>,
  ]);
  return (
    <Records
      title="Land"
      columns={["Field", "Crop", "Area", "Tenure and use", "Irrigation", "Boundary", "Id"]}
      rows={rows}
    />
  );
}

function Seasons({ farmer: { parcels } }: { readonly farmer: Farmer }) {
  const rows = parcels.flatMap(({ properties }, index) =>
    properties.seasons.map((season) => [
      `Field ${index + 1}, ${season.season_code}`,
      capitalized(season.crop_name),
      `${season.season_start} to ${season.season_end}`,
      season.planted_on,
      season.harvested_on ?? "not harvested yet",
      kg(season.harvest_kg, "kg"),
      kg(season.yield_kg_ha, "kg/ha"),
      season.loss_cause ?? "none",
    ]),
  );
  return (
    <Records
      title="Seasons"
      columns={["Season", "Crop", "Dates", "Planted", "Harvested", "Harvest", "Yield", "Cause of loss"]}
      rows={rows}
    />
  );
}

function Insurance({ farmer: { insurance } }: { readonly farmer: Farmer }) {
  const rows = insurance.map((policy) => [
    policy.season_code,
    <code key="id">{policy.policy_id}</code>,
    `${capitalized(policy.crop_name)}, ${number(policy.insured_area_ha)} ha at ${money(policy.insured_value_per_ha)}`,
    money(policy.sum_insured),
    money(policy.deductible),
    money(policy.premium),
    `${policy.term_start} to ${policy.term_end}`,
    policy.claims
      .map(({ cause, status, amount, occurred_on: day }) => `${cause} on ${day}: ${money(amount)}, ${status}`)
      .join("; ") || "none",
  ]);
  return (
    <Records
      title="Insurance"
      columns={["Season", "Policy", "Cover", "Sum insured", "Deductible", "Premium", "Term", "Claims"]}
      rows={rows}
    />
  );
}

function Loans({ farmer: { loans } }: { readonly farmer: Farmer }) {
  const rows = loans.map((loan) => [
    <code key="id">{loan.loan_id}</code>,
    codeWords(loan.purpose),
    codeWords(loan.lender),
    money({ amount: loan.principal, currency: loan.currency }),
    money({ amount: loan.outstanding, currency: loan.currency }),
    `${loan.interest_rate_percent}%`,
    codeWords(loan.collateral),
    `${loan.opened_on} to ${loan.due_on}`,
    codeWords(loan.status) + (loan.days_past_due > 0 ? `, ${loan.days_past_due} days` : ""),
  ]);
  return (
    <Records
      title="Loans"
      columns={[
        "Loan",
        "Purpose",
        "Lender",
        "Principal",
        "Outstanding",
        "Interest",
        "Collateral",
        "Term",
        "Status",
      ]}
      rows={rows}
    />
  );
}

/** A number with at most four decimals. */
function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 4 });
}

function kg(value: number | null, unit: string): string {
  return value === null ? "–" : `${number(value)} ${unit}`;
}

function money({ amount, currency }: { readonly amount: number; readonly currency: string }): string {
  return `${amount.toLocaleString("en")} ${currency}`;
}
