import { replaceFaults, turnedOff, turnOff, turnOnAgain } from "../../control/faults.js";
import { formSchemas } from "../../control/form-schemas.generated.js";
import { resource, useResources } from "../../control/resource.js";
import { faults, requestChecks } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { ActionButton } from "../../elements/forms/action.js";
import { type Body, SchemaForm } from "../../elements/forms/schema-form.js";
import { Read } from "../../elements/read.js";
import { capitalized, counted } from "../../elements/words.js";
import { conditionWords, effectsText } from "./fault-words.js";
import { ProfileChoice } from "./profile.js";

export function FaultsView() {
  return (
    <>
      <h1>Faults and assumptions</h1>
      <section class="panel stack" aria-labelledby="faults-title">
        <h2 id="faults-title">Faults</h2>
        <p class="muted">
          Problems between client and API. The first fault that matches a request fires, before the request
          checks.
        </p>
        <Read of={faults}>{(on) => <FaultList on={on} />}</Read>
        <Presets />
        <details>
          <summary>
            <strong>Add another fault</strong>
          </summary>
          <FaultForm />
        </details>
      </section>
      <ProfileChoice />
    </>
  );
}

const effects = () => requestChecks.data.value?.effects ?? [];

function FaultList({ on }: { readonly on: readonly Shown<"Fault">[] }) {
  const off = turnedOff.value;
  return (
    <>
      {on.length === 0 ? <p>No faults. Every request gets its normal response.</p> : null}
      <ul class="list faults">
        {on.map((fault, index) => {
          const words = `${capitalized(conditionWords(fault.when))}: ${effectsText(fault.then, effects())}`;
          const matched = fault.requests_matched;
          return (
            <li key={index} class="bar">
              <p class="wide">
                <strong>
                  <bdi>{words}.</bdi>
                </strong>
                {matched === undefined ? null : (
                  <span class="muted"> {counted(matched, "request")} matched.</span>
                )}
              </p>
              <ActionButton class="quiet" run={() => turnOff(fault)}>
                Turn off<span class="visually-hidden"> the fault: {words}</span>
              </ActionButton>
            </li>
          );
        })}
      </ul>
      {off.length === 0 ? null : (
        <p class="bar">
          <ActionButton class="quiet" run={turnOnAgain}>
            Turn {counted(off.length, "fault")} on again
          </ActionButton>
          <span class="muted">This page remembers them until you reload it.</span>
        </p>
      )}
    </>
  );
}

/** A fault for each effect. It hits every request. */
const presets: readonly (readonly [words: string, then: Shown<"Fault">["then"]])[] = [
  ["503", { status: 503 }],
  ["Two seconds late", { latency: "2s" }],
  ["Connection reset", { reset: true }],
  ["No response", { hang: true }],
  ["Truncated body", { truncate: true }],
  ["Broken JSON", { malformed: true }],
  ["Slow body", { slow: 25 }],
];

function Presets() {
  return (
    <div class="bar presets">
      <span>Add for every request:</span>
      {presets.map(([words, then]) => (
        <ActionButton key={words} class="quiet" run={() => replaceFaults((on) => [...on, { then }])}>
          {words}
        </ActionButton>
      ))}
    </div>
  );
}

const schema = formSchemas.faults_change.properties.faults.items;
const effectFields = Object.keys(schema.properties.then.properties).map((effect) => `then.${effect}`);
const conditionFields = Object.keys(schema.properties.when.properties).map((name) => `when.${name}`);
const body: Body = { schema, fields: [...effectFields, ...conditionFields] };

type Refs = readonly { readonly ref: string }[];

const keys = resource<Refs>("/keys?limit=2000");
const organizations = resource<Refs>("/organizations?limit=2000");

function FaultForm() {
  useResources(keys, organizations, requestChecks);
  const add = async (fault: object, form: HTMLFormElement) => {
    await replaceFaults((on) => [...on, fault]);
    form.reset();
  };
  const refs = ({ data }: typeof keys) => (data.value ?? []).map(({ ref }) => ref);
  const { successes = [], checks = [] } = requestChecks.data.value ?? {};
  const choices = {
    "when.key": refs(keys),
    "when.organization": refs(organizations),
    "when.path_id": [...successes, ...checks.flatMap(({ exits }) => exits)],
  };
  return <SchemaForm body={body} action="Add the fault" send={add} choices={choices} />;
}
