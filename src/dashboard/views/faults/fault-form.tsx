import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { resource, useResources } from "../../control/resource.js";
import { gate } from "../../control/resources.js";
import { Field } from "../../elements/forms/field.js";
import { ActionForm, numberIn, textIn } from "../../elements/forms/form.js";
import type { ChangeFaults } from "./fault-words.js";

const kinds = {
  latency: "delay the response",
  status: "return an error",
  reset: "reset the connection",
  hang: "never respond",
  truncate: "cut the response short",
  malformed: "return broken JSON",
  slow: "send the response slowly",
} as const;
type Kind = keyof typeof kinds;

type Refs = readonly { readonly ref: string }[];

// A longer list does not help: any ref can be typed.
const keys = resource<Refs>("/keys?limit=200", { on: ["world.", "key."] });
const organizations = resource<Refs>("/organizations?limit=200", { on: ["world."] });

/** A form for a new fault: its effect, and the requests that it affects. */
export function FaultForm({ changeFaults }: { readonly changeFaults: ChangeFaults }) {
  // The new fault comes after the faults that are on.
  const place = useRef(0);
  const add = async (fields: FormData, form: HTMLFormElement) => {
    const fault = faultIn(fields);
    await changeFaults((on) => {
      place.current = on.length;
      return [...on, fault];
    });
    // The effect stays selected, because the next fault is often similar.
    const typed = form.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, details select");
    for (const one of typed) one.value = "";
  };
  return (
    <ActionForm action="Add the fault" send={add}>
      {(problems) => <FaultFields problems={problems} place={place.current} />}
    </ActionForm>
  );
}

interface FaultFieldsProps {
  readonly problems: Readonly<Record<string, string>>;
  /** The position of the new fault in the list, which the names of its problems contain. */
  readonly place: number;
}

function FaultFields({ problems, place }: FaultFieldsProps) {
  useResources(keys, organizations, gate);
  const kind = useSignal<Kind>("status");
  const problemOf = (field: string) =>
    Object.entries(problems).find(([name]) => name.startsWith(`faults.${place}.${field}`))?.[1];
  const paths = [
    ...(gate.data.value?.successes ?? []),
    ...(gate.data.value?.checks ?? []).flatMap(({ exits }) => exits),
  ];
  const text = (label: string, name: string, hint: string, more: object = {}) => (
    <Field label={label} hint={hint} problem={problemOf(name)}>
      {(attributes) => <input {...attributes} name={name} autocomplete="off" spellcheck={false} {...more} />}
    </Field>
  );
  return (
    <>
      <h3>Add a fault</h3>
      <div class="form-fields">
        <Field label="Effect" problem={problemOf("then")}>
          {(attributes) => (
            <select
              {...attributes}
              name="kind"
              value={kind.value}
              onChange={(event) => {
                kind.value = event.currentTarget.value as Kind;
              }}
            >
              {Object.entries(kinds).map(([name, words]) => (
                <option key={name} value={name}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        {kind.value === "status" ? (
          <>
            <Field label="Status" problem={problemOf("then.status")}>
              {(attributes) => (
                <select {...attributes} name="then.status">
                  {[500, 501, 502, 503, 504].map((status) => (
                    <option key={status} selected={status === 503}>
                      {status}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <Field label="Body">
              {(attributes) => (
                <select {...attributes} name="then.body">
                  <option value="json">the API's error</option>
                  <option value="html">a gateway's page</option>
                </select>
              )}
            </Field>
          </>
        ) : null}
        {kind.value === "slow"
          ? text("Bytes per second", "then.slow", "such as 25", { type: "number", min: 1, required: true })
          : null}
        {kind.value === "latency" || kind.value === "status" ? (
          <>
            {text(
              kind.value === "latency" ? "Delay" : "Delay before the error",
              "then.latency",
              "such as 250ms or 2s",
              {
                required: kind.value === "latency",
              },
            )}
            {text("Maximum delay", "latest", "for a random delay")}
          </>
        ) : null}
        {text("Key", "when.key", "a ref; empty for any key", { list: "fault-keys" })}
      </div>
      <details>
        <summary>Limit to some requests</summary>
        <div class="form-fields">
          {text("Organization", "when.organization", "a ref", { list: "fault-organizations" })}
          <Field label="Outcome without the fault" problem={problemOf("when.path_id")}>
            {(attributes) => (
              <select {...attributes} name="when.path_id">
                <option value="">any</option>
                {paths.map((path) => (
                  <option key={path}>{path}</option>
                ))}
              </select>
            )}
          </Field>
          {text("Every nth", "when.every", "3 for every third request", { type: "number", min: 1 })}
          {text("Request numbers", "when.requests", "such as 1, 3, 4")}
          {text("Probability", "when.probability", "from 0 to 1", {
            type: "number",
            min: 0,
            max: 1,
            step: "any",
          })}
          {text("From", "when.after", "a time, or a duration such as 10m")}
          {text("Until", "when.until", "a time, or a duration such as 1h")}
        </div>
      </details>
      {Object.entries({ keys, organizations }).map(([name, { data }]) => (
        <datalist key={name} id={`fault-${name}`}>
          {(data.value ?? []).map(({ ref }) => (
            <option key={ref} value={ref} />
          ))}
        </datalist>
      ))}
    </>
  );
}

/** The fault in the fields of a form, without the empty ones. */
function faultIn(fields: FormData) {
  const kind = fields.get("kind") as Kind;
  const given = (name: string) => textIn(fields, name);
  const [latency, latest] = [given("then.latency"), given("latest")];
  const body = given("then.body");
  const then = {
    ...(["reset", "hang", "truncate", "malformed"].includes(kind) && { [kind]: true }),
    status: numberIn(fields, "then.status"),
    body: body === "html" ? body : undefined,
    latency: latency !== undefined && latest !== undefined ? { min: latency, max: latest } : latency,
    slow: numberIn(fields, "then.slow"),
  };
  const when = {
    key: given("when.key"),
    organization: given("when.organization"),
    path_id: given("when.path_id"),
    every: numberIn(fields, "when.every"),
    requests: given("when.requests")
      ?.split(/[\s,]+/)
      .map(Number),
    probability: numberIn(fields, "when.probability"),
    after: given("when.after"),
    until: given("when.until"),
  };
  return Object.values(when).every((value) => value === undefined) ? { then } : { when, then };
}
