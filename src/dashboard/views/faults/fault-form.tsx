import { useSignal } from "@preact/signals";
import { resource, useResources } from "../../control/resource.js";
import { requestChecks } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { Choice, TextField } from "../../elements/forms/field.js";
import { ActionForm, numberIn, textIn } from "../../elements/forms/form.js";
import type { ChangeFaults } from "./fault-words.js";

type Kind = Shown<"RequestChecks">["effects"][number]["effect"];

type Refs = readonly { readonly ref: string }[];

const keys = resource<Refs>("/keys?limit=2000", { on: ["world.", "key."] });
const organizations = resource<Refs>("/organizations?limit=2000", { on: ["world."] });

export function FaultForm({ changeFaults }: { readonly changeFaults: ChangeFaults }) {
  const add = async (fields: FormData, form: HTMLFormElement) => {
    const fault = faultIn(fields);
    await changeFaults((on) => [...on, fault]);
    // The effect stays selected, because the next fault is often similar.
    const typed = form.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, [name^=when]");
    for (const one of typed) one.value = "";
  };
  return (
    <ActionForm action="Add the fault" send={add}>
      {(problems) => <FaultFields problems={problems} />}
    </ActionForm>
  );
}

const any = ["", "any"] as const;

/** The places of the problems of a field, if they are not those that start with its name. */
const ownPlaces = new Map([
  ["then", /^then$/],
  ["then.latency", /^then\.latency(?:\.min)?$/],
  ["latest", /^then\.latency\.max$/],
]);

function FaultFields({ problems }: { readonly problems: Readonly<Record<string, string>> }) {
  useResources(keys, organizations, requestChecks);
  const kind = useSignal<Kind>("status");
  const latest = useSignal("");
  /** The name of a field, and its problem. The names of problems start with the place of the new fault. */
  const field = (name: string) => {
    const isOwn = (at: string) => ownPlaces.get(name)?.test(at) ?? at.startsWith(name);
    const found = Object.keys(problems).find((at) => isOwn(at.replace(/^faults\.\d+\./, "")));
    return { name, problem: found && problems[found] };
  };
  const refs = ({ data }: typeof keys) => [any, ...(data.value ?? []).map(({ ref }) => ref)];
  const { successes = [], checks = [], effects = [] } = requestChecks.data.value ?? {};
  const value = effects.find(({ effect }) => effect === kind.value)?.value;
  const isDelay = value === "delay";
  return (
    <>
      <h3>Add a fault</h3>
      <div class="form-fields narrow">
        <Choice
          label="Effect"
          {...field("then")}
          name="kind"
          of={effects.map(({ effect, does }) => [effect, does])}
          value={kind.value}
          onChange={(event) => {
            kind.value = event.currentTarget.value as Kind;
          }}
        />
        {value === "status" ? (
          <>
            <Choice label="Status" {...field("then.status")} of={["503", "500", "501", "502", "504"]} />
            <Choice
              label="Body"
              {...field("then.body")}
              of={[
                ["json", "the API's error"],
                ["html", "a gateway's page"],
              ]}
            />
          </>
        ) : null}
        {value === "rate" ? (
          <TextField
            label="Bytes per second"
            {...field("then.slow")}
            type="number"
            min={1}
            defaultValue="25"
          />
        ) : null}
        {isDelay || value === "status" ? (
          <>
            <TextField
              label="Delay"
              hint="such as 250ms or 2s"
              {...field("then.latency")}
              required={isDelay && latest.value === ""}
            />
            <TextField
              label="Maximum delay"
              onInput={({ currentTarget }) => {
                latest.value = currentTarget.value;
              }}
              hint="for a random delay from the one before, or from 0"
              {...field("latest")}
            />
          </>
        ) : null}
        <Choice label="Key" {...field("when.key")} of={refs(keys)} />
      </div>
      <details>
        <summary>Limit to some requests</summary>
        <div class="form-fields">
          <Choice label="Organization" {...field("when.organization")} of={refs(organizations)} />
          <Choice
            label="Outcome without the fault"
            {...field("when.path_id")}
            of={[any, ...successes, ...checks.flatMap(({ exits }) => exits)]}
          />
          <TextField
            label="Every nth"
            hint="3 for every third request"
            {...field("when.every")}
            type="number"
            min={1}
          />
          <TextField label="Request numbers" hint="such as 1, 3, 4" {...field("when.requests")} />
          <TextField
            label="Probability"
            hint="from 0 to 1"
            {...field("when.probability")}
            type="number"
            min={0}
            max={1}
            step="any"
          />
          <TextField label="From" hint="a time, or a duration such as 10m" {...field("when.after")} />
          <TextField label="Until" hint="a time, or a duration such as 1h" {...field("when.until")} />
        </div>
      </details>
    </>
  );
}

const isFlag = (kind: Kind) =>
  requestChecks.data.value?.effects.some(({ effect, value }) => effect === kind && value === "flag");

/** The fault in the fields of a form, without the empty ones. */
function faultIn(fields: FormData) {
  const kind = fields.get("kind") as Kind;
  const given = (name: string) => textIn(fields, name);
  const [latency, latest] = [given("then.latency"), given("latest")];
  const body = given("then.body");
  const then = {
    ...(isFlag(kind) && { [kind]: true }),
    status: numberIn(fields, "then.status"),
    body: body === "html" ? body : undefined,
    latency: latest === undefined ? latency : { min: latency ?? "0ms", max: latest },
    slow: numberIn(fields, "then.slow"),
  };
  const when = {
    key: given("when.key"),
    organization: given("when.organization"),
    path_id: given("when.path_id"),
    every: numberIn(fields, "when.every"),
    requests: given("when.requests")
      ?.split(/[\s,]+/)
      .map((one) => (Number.isNaN(Number(one)) ? one : Number(one))),
    probability: numberIn(fields, "when.probability"),
    after: given("when.after"),
    until: given("when.until"),
  };
  return Object.values(when).every((value) => value === undefined) ? { then } : { when, then };
}
