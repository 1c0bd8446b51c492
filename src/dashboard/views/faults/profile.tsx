import { call } from "../../control/call.js";
import { resource, useResources } from "../../control/resource.js";
import { assumptions } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { DocsLink } from "../../elements/docs-link.js";
import { ActionButton, RejectionText, useAction } from "../../elements/forms/action.js";

type Values = Shown<"Assumptions">;
type Name = Values["profile"];

const rows = resource<readonly Shown<"AssumptionRow">[]>("/profiles");

const profiles: Readonly<Record<Name, string>> = {
  minimal: "only what the specification promises",
  typical: "what good gateways do",
  varied: "like minimal, but open details vary between responses",
};

const choose = (profile: Name) => call("/assumptions", { method: "PUT", body: { profile } });

/** The profile of the assumptions about open details of the specification, and the values that differ from it. */
export function ProfileChoice() {
  useResources(rows, assumptions);
  const action = useAction(choose);
  const values = assumptions.data.value;
  if (values === undefined) return <p class="muted">Reading…</p>;
  const { profile } = values;
  const different = (rows.data.value ?? []).filter(
    (row) => JSON.stringify(values[row.assumption as keyof Values]) !== JSON.stringify(valueIn(row, profile)),
  );
  return (
    <section class="panel stack" aria-labelledby="profile-title">
      <h2 id="profile-title">Profile</h2>
      <p class="muted">
        The sandbox's behavior where the specification is silent. A change applies from the next response.{" "}
        <DocsLink to="specification.md#assumptions">All assumptions</DocsLink>
      </p>
      <fieldset class="stack">
        <legend class="visually-hidden">Profile</legend>
        {(Object.keys(profiles) as Name[]).map((name) => (
          <label key={name} class="bar">
            <input type="radio" name="profile" checked={name === profile} onChange={() => action.run(name)} />
            <span class="wide">
              <strong>{name}</strong> <span class="muted">{profiles[name]}</span>
            </span>
          </label>
        ))}
        <RejectionText problem={action.problem} />
      </fieldset>
      {different.length === 0 ? (
        <p>All values match the profile {profile}.</p>
      ) : (
        <>
          <p>These values differ from it. Change them in the scenario, under assumptions.</p>
          <ul class="list small">
            {different.map((row) => (
              <li key={row.assumption}>
                <code>
                  {row.assumption}: {JSON.stringify(values[row.assumption as keyof Values])}
                </code>{" "}
                <span class="muted">{row.meaning}</span>
              </li>
            ))}
          </ul>
          <div>
            <ActionButton class="quiet" run={() => choose(profile)}>
              Reset them
            </ActionButton>
          </div>
        </>
      )}
    </section>
  );
}

function valueIn({ minimal, typical }: Shown<"AssumptionRow">, profile: Name): unknown {
  return profile === "typical" ? typical : minimal;
}
