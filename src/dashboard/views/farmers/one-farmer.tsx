import type { Farmer } from "../../control/answers.js";
import { useResource } from "../../control/resource.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Fact } from "../../elements/fact.js";
import { counted } from "../../elements/words.js";
import { linkTo } from "../../route.js";
import { previewIsOn } from "./consent-resources.js";
import { ConsentList } from "./consents.js";
import { countryName } from "./facets.js";
import { FarmerRecords, number } from "./farmer-records.js";
import { FieldPlan } from "./field-plan.js";

const languageNames = new Intl.DisplayNames("en", { type: "language" });

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
          <p class="notice" role="alert">
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
      <header class="farmers-head">
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
      <div class="farmer-top">
        <section class="panel">
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
        <section class="panel">
          <h2>Fields</h2>
          <FieldPlan parcels={farmer.parcels} />
        </section>
      </div>
      <FarmerRecords farmer={farmer} />
      {previewIsOn.data.value ? (
        <section class="records">
          <h2>Consents and attestations</h2>
          <ConsentList farmerId={farmer.farmer_id} />
        </section>
      ) : null}
    </>
  );
}
