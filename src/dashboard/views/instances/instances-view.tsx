import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Instance } from "../../control/answers.js";
import { baseUrl, call, instanceId, serverPage } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { instances, scenarios } from "../../control/resources.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Field } from "../../elements/forms/field.js";
import { ActionForm, numberIn, textIn } from "../../elements/forms/form.js";
import { LossButton } from "../../elements/forms/loss.js";
import { durationText, Instant } from "../../elements/instant.js";
import { Table } from "../../elements/table.js";
import { linkTo } from "../../route.js";

const mostShown = 100;

/** In milliseconds. The list is read regularly, because no event reports changes. */
const readingPause = 5000;

/** The instances of this server, with links to their pages. */
export function InstancesView() {
  return (
    <>
      <h1>Instances</h1>
      <section class="panel stack" aria-label="Instances">
        {instanceId === undefined ? (
          <InstanceList />
        ) : (
          <p>
            This page shows an instance. Instances cannot contain instances.{" "}
            <a href={serverPage + linkTo("instances")}>Go to the server's page.</a>
          </p>
        )}
      </section>
    </>
  );
}

function InstanceList() {
  useResources(instances);
  useEffect(() => {
    const timer = setInterval(instances.refresh, readingPause);
    return () => clearInterval(timer);
  }, []);
  const all = instances.data.value ?? [];
  return (
    <>
      <p class="muted">
        Isolated sandboxes on this server, for example one for each test or partner. Each has its own base
        URL, keys and page. The server removes an instance when it expires, or after an hour without requests;{" "}
        <code>--instance-ttl</code> sets another limit.
      </p>
      {all.length === 0 ? (
        <p>No instances.</p>
      ) : (
        <Table
          label="List of instances"
          columns={["Instance", "Scenario", "Created", "Idle", "Expires", "Base URL", "Action"]}
          rows={all.slice(0, mostShown).map(({ id, label, scenario, seed, base_url: url, ...times }) => ({
            key: id,
            cells: [
              <a key="id" href={`${baseUrl}/i/${id}/__sandbox/`}>
                <bdi>{label ?? id}</bdi>
              </a>,
              <span key="scenario">
                <bdi>{scenario}</bdi> <span class="muted">seed {seed}</span>
              </span>,
              <Instant key="created" at={times.created_at} />,
              durationText(times.idle_seconds * 1000),
              times.expires_at === null ? "when idle" : <Instant at={times.expires_at} />,
              <CopyButton key="url" text={url}>
                Copy
              </CopyButton>,
              <LossButton
                key="remove"
                class="danger"
                title={`Remove ${label ?? id}?`}
                action="Remove the instance"
                of={`/../i/${id}/__sandbox`}
                run={() => call(`/instances/${id}`, { method: "DELETE" })}
              >
                Remove
                <span class="visually-hidden">
                  {" "}
                  <bdi>{label ?? id}</bdi>
                </span>
              </LossButton>,
            ],
          }))}
        />
      )}
      {all.length > mostShown ? <p class="muted">… and {all.length - mostShown} more.</p> : null}
      <NewInstance />
    </>
  );
}

function NewInstance() {
  useResources(scenarios);
  const made = useSignal<Instance | undefined>(undefined);
  const create = async (fields: FormData, form: HTMLFormElement) => {
    const body = {
      scenario: textIn(fields, "scenario"),
      profile: textIn(fields, "profile"),
      label: textIn(fields, "label"),
      seed: numberIn(fields, "seed"),
    };
    made.value = await call<Instance>("/instances", { method: "POST", body });
    form.reset();
  };
  return (
    <>
      <ActionForm action="Create the instance" send={create}>
        {(problems) => (
          <>
            <h2>Create an instance</h2>
            <div class="form-fields">
              <Field label="Scenario" problem={problems.scenario}>
                {(attributes) => (
                  <select {...attributes} name="scenario">
                    <option value="">the server's scenario</option>
                    {(scenarios.data.value ?? []).map(({ name }) => (
                      <option key={name}>{name}</option>
                    ))}
                  </select>
                )}
              </Field>
              <Field label="Seed" hint="empty for the scenario's seed" problem={problems.seed}>
                {(attributes) => <input {...attributes} name="seed" type="number" min={0} step={1} />}
              </Field>
              <Field label="Profile" problem={problems.profile}>
                {(attributes) => (
                  <select {...attributes} name="profile">
                    <option value="">the scenario's profile</option>
                    <option>minimal</option>
                    <option>typical</option>
                    <option>varied</option>
                  </select>
                )}
              </Field>
              <Field label="Label" hint="such as a test name" problem={problems.label}>
                {(attributes) => <input {...attributes} name="label" autocomplete="off" />}
              </Field>
            </div>
          </>
        )}
      </ActionForm>
      {made.value === undefined ? null : <Made instance={made.value} />}
    </>
  );
}

// Only this response contains the keys.
function Made({
  instance: { id, label, base_url: url, control_url: controlUrl, keys, token, claim_url: link },
}: {
  readonly instance: Instance;
}) {
  const lines = Object.entries(keys).map(
    ([ref, secret]) => `SVC_KEY_${ref.toUpperCase().replaceAll("-", "_")}=${secret}\n`,
  );
  const environment = `SVC_BASE_URL=${url}\nSVC_CONTROL_URL=${controlUrl}\n${lines.join("")}SVC_SANDBOX_CONTROL_TOKEN=${token}\n`;
  return (
    <div class="notice" role="status">
      <p>
        <bdi>{label ?? id}</bdi> is ready at <code>{url}</code>. Copy its keys and token now: they are shown
        only once.
      </p>
      <CopyButton text={environment}>Copy URL, keys and token as variables</CopyButton>{" "}
      <CopyButton text={link}>Copy a one-time link for a partner</CopyButton>
    </div>
  );
}
