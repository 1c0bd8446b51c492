import { useResources } from "../../control/resource.js";
import { assumptions, health } from "../../control/resources.js";
import { Fact } from "../../elements/fact.js";
import { linkTo } from "../../route.js";
import { Assumptions } from "./assumptions.js";
import { Faults } from "./faults.js";

/** The differences from an ideal API: assumptions and faults. */
export function FaultsView() {
  useResources(health, assumptions);
  const { scenario, seed } = health.data.value ?? {};
  return (
    <>
      <h1>Faults and assumptions</h1>
      <dl class="world-facts">
        <Fact name="Scenario">
          <a href={linkTo("scenario")}>
            <bdi>{scenario}</bdi>
          </a>
        </Fact>
        <Fact name="Seed">
          {seed}{" "}
          <span class="muted">The seed of all generated data. To change it, use --seed or an instance.</span>
        </Fact>
        <Fact name="Profile">{assumptions.data.value?.profile}</Fact>
      </dl>
      <div class="faults-and-assumptions">
        <Assumptions />
        <Faults />
      </div>
    </>
  );
}
