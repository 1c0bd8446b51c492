import { call } from "../../control/call.js";
import { resource, useResources } from "../../control/resource.js";
import { assumptions } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { type Action, ActionButton, RejectionText, useAction } from "../../elements/forms/action.js";
import { assumptionIn } from "./assumption-value.js";

type Row = Shown<"AssumptionRow">;
type Values = Shown<"Assumptions">;

const rows = resource<readonly Row[]>("/profiles", { on: [] });

type Profile = Values["profile"];
const profiles: Readonly<Record<Profile, string>> = {
  minimal: "only what the specification promises",
  typical: "what good gateways do",
  varied: "like minimal, but open details vary between responses",
};

function change(values: Readonly<Record<string, unknown>>): Promise<unknown> {
  return call("/assumptions", { method: "PUT", body: values });
}

/** The assumptions about open details of the specification. Values that differ from the profile are marked and can be reset. */
export function AssumptionList() {
  useResources(rows, assumptions);
  const values = assumptions.data.value;
  if (values === undefined || rows.data.value === undefined) return <p class="muted">Reading…</p>;
  const different = rows.data.value.filter((row) => !isAsProfile(row, values));
  return (
    <section class="panel stack" aria-labelledby="assumptions-title">
      <h2 id="assumptions-title">Profile</h2>
      <p class="muted">
        The sandbox's behavior where the specification is silent. Changes apply from the next response.
      </p>
      <ProfileChoice current={values.profile} />
      {different.length === 0 ? null : (
        <div>
          <ActionButton class="quiet" run={() => change({ profile: values.profile })}>
            Reset all
          </ActionButton>
        </div>
      )}
      <details>
        <summary>
          <strong>Assumptions</strong>{" "}
          {different.length === 0
            ? `All values match the profile ${values.profile}.`
            : `${different.length} ${different.length === 1 ? "value differs" : "values differ"} from the profile ${values.profile}.`}
        </summary>
        <ul class="list assumptions">
          {rows.data.value.map((row) => (
            <Assumption key={row.assumption} row={row} values={values} />
          ))}
        </ul>
      </details>
    </section>
  );
}

function ProfileChoice({ current }: { readonly current: Profile }) {
  const action = useAction((profile: Profile) => change({ profile }));
  return (
    <fieldset class="stack">
      <legend class="visually-hidden">Profile</legend>
      {(Object.keys(profiles) as Profile[]).map((name) => (
        <label key={name} class="bar">
          <input type="radio" name="profile" checked={name === current} onChange={() => action.run(name)} />
          <span class="wide">
            <strong>{name}</strong> <span class="muted">{profiles[name]}</span>
          </span>
        </label>
      ))}
      <RejectionText problem={action.problem} />
    </fieldset>
  );
}

function valueIn(row: Row, values: Values): unknown {
  return values[row.assumption as keyof Values];
}

function profileValue({ minimal, typical }: Row, profile: Profile): unknown {
  return profile === "typical" ? typical : minimal;
}

function isAsProfile(row: Row, values: Values): boolean {
  return JSON.stringify(valueIn(row, values)) === JSON.stringify(profileValue(row, values.profile));
}

function Assumption({ row, values }: { readonly row: Row; readonly values: Values }) {
  const { assumption: name, meaning, varied } = row;
  const value = valueIn(row, values);
  const standard = profileValue(row, values.profile);
  const action = useAction((wanted: unknown) => change({ [name]: wanted }));
  const isSame = isAsProfile(row, values);
  const id = `assumption-${name}`;
  return (
    <li class={isSame ? undefined : "different"}>
      <label htmlFor={id}>
        <code>{name}</code>
      </label>
      <div class="bar">
        <Control id={id} row={row} value={value} action={action} />
        {isSame ? null : (
          <button type="button" class="quiet" onClick={() => action.run(standard)}>
            Reset<span class="visually-hidden"> {name}</span>
          </button>
        )}
      </div>
      <p class="muted small" id={`${id}-meaning`}>
        {meaning}
        {isSame ? null : (
          <>
            {" "}
            The profile sets <code>{textOf(standard)}</code>.
          </>
        )}
        {isSame && varied && values.profile === "varied" ? " It varies between responses." : null}
      </p>
      <FieldRejection problem={action.problem} name={name} />
    </li>
  );
}

// A problem of a list item is shown for the whole list.
function FieldRejection({ problem, name }: Pick<Action, "problem"> & { readonly name: string }) {
  if (problem === undefined) return null;
  const own = Object.entries(problem.fields).filter(([field]) => field.split(".")[0] === name);
  if (own.length === 0) return <RejectionText problem={problem} />;
  return (
    <p class="rejection" role="alert">
      {own.map(([, text]) => text).join("; ")}
    </p>
  );
}

interface ControlProps {
  readonly id: string;
  readonly row: Row;
  readonly value: unknown;
  readonly action: Action<[unknown]>;
}

function Control({ id, row: { schema }, value, action: { run: set, problem } }: ControlProps) {
  const described = { id, "aria-describedby": `${id}-meaning`, "aria-invalid": problem !== undefined };
  if (schema.type === "boolean") {
    const isOn = value === true;
    return <input {...described} type="checkbox" checked={isOn} onChange={() => set(!isOn)} />;
  }
  if (Array.isArray(schema.enum)) {
    return (
      <select {...described} value={String(value)} onChange={(event) => set(event.currentTarget.value)}>
        {schema.enum.map((choice: string) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void set(assumptionIn(String(new FormData(event.target as HTMLFormElement).get("value")), schema));
  };
  return (
    // A value set elsewhere replaces the typed text.
    <form class="bar wide" onSubmit={submit} key={textOf(value)}>
      <input {...described} class="wide" name="value" defaultValue={textOf(value)} spellcheck={false} />
      <button type="submit" class="quiet">
        Change<span class="visually-hidden"> {id.replace("assumption-", "")}</span>
      </button>
    </form>
  );
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : String(value);
}
