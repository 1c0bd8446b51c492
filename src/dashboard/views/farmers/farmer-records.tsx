import type { ComponentChildren } from "preact";
import type { Farmer } from "../../control/answers.js";
import { Table } from "../../elements/table.js";
import { capitalized, codeWords } from "../../elements/words.js";

/** The records of a farmer as tables: land, seasons, insurance and loans. */
export function FarmerRecords({ farmer }: { readonly farmer: Farmer }) {
  return (
    <>
      <Fields farmer={farmer} />
      <Seasons farmer={farmer} />
      <Insurance farmer={farmer} />
      <Loans farmer={farmer} />
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
    <section class="records">
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="muted">{none}</p>
      ) : (
        <Table label={title} columns={columns}>
          {rows.map(([first, ...cells], row) => {
            // The rows of a record never move.
            const key = row;
            return (
              <tr key={key}>
                <th scope="row">{first}</th>
                {cells.map((cell, position) => (
                  <td key={columns[position + 1]}>{cell}</td>
                ))}
              </tr>
            );
          })}
        </Table>
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
export function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 4 });
}

function kg(value: number | null, unit: string): string {
  return value === null ? "–" : `${number(value)} ${unit}`;
}

function money({ amount, currency }: { readonly amount: number; readonly currency: string }): string {
  return `${amount.toLocaleString("en")} ${currency}`;
}
