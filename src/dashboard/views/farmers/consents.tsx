import { useEffect } from "preact/hooks";
import type { Consent, Report } from "../../control/answers.js";
import { call } from "../../control/call.js";
import { resource, useResources } from "../../control/resource.js";
import { clock } from "../../control/resources.js";
import { ActionButton } from "../../elements/forms/action.js";
import { Instant } from "../../elements/instant.js";
import { Table } from "../../elements/table.js";
import { capitalized, codeWords } from "../../elements/words.js";
import { linkTo } from "../../route.js";

/** Whether the scenario previews announced endpoints. Without the preview, no consents exist. */
export const consentsAreOn = resource<boolean>("/report", {
  on: ["world."],
  read: async (path) => (await call<Report>(path)).endpoints.some(({ announced }) => announced),
});

export const consents = resource<readonly Consent[]>("/consents", {
  on: ["world.", "consent.", "clock.", "timeline.", "story."],
});

/** Keeps the consents up to date while a component is shown, also as time passes. */
export function useConsents(): void {
  useResources(consents, clock);
  const isRunning = clock.data.value?.frozen === false;
  useEffect(() => {
    if (!isRunning) return;
    // No event reports changes over time.
    const timer = setInterval(consents.refresh, 5000);
    return () => clearInterval(timer);
  }, [isRunning]);
}

const tones: Readonly<Record<string, string>> = {
  pending: "limit",
  granted: "success",
  active: "success",
  processing: "limit",
  suspended: "limit",
};

const docs = "docs/farmers.md";

export function ConsentsPage() {
  useResources(consentsAreOn);
  return (
    <>
      <p>
        <a href={linkTo("farmers")}>All farmers</a>
      </p>
      <h1>Consents and attestations</h1>
      {consentsAreOn.data.value === false ? (
        <p class="panel">
          Consents and attestations are announced, not released. To try a preview, set{" "}
          <code>preview: true</code> in the scenario, or <a href={linkTo("scenario")}>load</a>{" "}
          <code>announced-endpoints</code>. See <code>{docs}</code>.
        </p>
      ) : (
        <ConsentList />
      )}
    </>
  );
}

/** All consents, or one farmer's consents, newest first, with the farmer's decisions as buttons. */
export function ConsentList({ farmerId }: { readonly farmerId?: string }) {
  useConsents();
  const all = consents.data.value;
  if (all === undefined) return <p class="muted">Reading…</p>;
  const shown = all.filter((consent) => farmerId === undefined || consent.farmer_id === farmerId);
  if (shown.length === 0) {
    return (
      <p class="panel">
        {farmerId === undefined
          ? "No client has requested consent yet."
          : "No client has requested this farmer's consent yet."}{" "}
        Clients send <code>POST /v1/relying-party/consent-requests</code>. See the example in{" "}
        <code>{docs}</code>.
      </p>
    );
  }
  return (
    <ol class="stack consents">
      {[...shown].reverse().map((consent) => (
        <li key={consent.id} class="panel">
          <OneConsent consent={consent} Title={farmerId === undefined ? "h2" : "h3"} />
        </li>
      ))}
    </ol>
  );
}

function OneConsent({ consent, Title }: { readonly consent: Consent; readonly Title: "h2" | "h3" }) {
  const { id, status, purpose, permissions, organization, attestations } = consent;
  const decide = (decision: "grant" | "reject" | "revoke") => () =>
    call(`/consents/${encodeURIComponent(id)}/${decision}`, { method: "POST" });
  return (
    <article class="stack" aria-labelledby={id}>
      <header class="bar apart">
        <Title id={id}>
          <Status of={status} /> <code>{id}</code>
        </Title>
        <div class="bar">
          {status === "pending" ? (
            <>
              <ActionButton run={decide("grant")}>Grant</ActionButton>
              <ActionButton class="danger" run={decide("reject")}>
                Reject
              </ActionButton>
            </>
          ) : null}
          {status === "granted" ? (
            <ActionButton class="danger" run={decide("revoke")}>
              Revoke
            </ActionButton>
          ) : null}
        </div>
      </header>
      <p>
        <bdi>{organization}</bdi> asks{" "}
        <a href={linkTo("farmers", [consent.farmer_id])}>farmer {consent.farmer.toLocaleString("en")}</a> for{" "}
        {permissions.join(", ")}: <q>{purpose.text}</q> <span class="muted">({codeWords(purpose.code)})</span>
      </p>
      <ol class="small bulleted">
        {consent.history.map((one) => (
          <li key={`${one.at} ${one.status}`}>
            <Instant at={one.at} /> {one.status === "pending" ? "requested" : one.status} by the{" "}
            {codeWords(one.by)}
          </li>
        ))}
        {status === "pending" || status === "granted" ? (
          <li class="muted">
            <Instant at={status === "pending" ? consent.respond_by : consent.expires_at} /> expires
            {status === "pending" ? " without a decision" : ""}
          </li>
        ) : null}
      </ol>
      {attestations.length === 0 ? null : <Attestations of={attestations} />}
    </article>
  );
}

function Attestations({ of: attestations }: { readonly of: Consent["attestations"] }) {
  return (
    <Table
      label="Attestations"
      columns={["Attestation", "Production", "Validity", "Id", "Change"]}
      rows={attestations.map(({ id, type, production, validity }) => ({
        key: id,
        cells: [
          type,
          <Status key="production" of={production} />,
          validity === null ? "none yet" : <Status of={validity} />,
          <code key="id">{id}</code>,
          <Suspension key="change" id={id} validity={validity} />,
        ],
      }))}
    />
  );
}

function Suspension({ id, validity }: { readonly id: string; readonly validity: string | null }) {
  if (validity !== "active" && validity !== "suspended") return <span class="muted">final or not ready</span>;
  const name = validity === "active" ? "suspend" : "resume";
  const change = () => call(`/attestations/${encodeURIComponent(id)}/${name}`, { method: "POST" });
  return (
    // A new button after each change, because a rejection belongs to the pressed one.
    <ActionButton key={name} class="quiet" run={change}>
      {capitalized(name)}
    </ActionButton>
  );
}

function Status({ of: status }: { readonly of: string }) {
  return <span class={`status toned tone-${tones[status] ?? "other"}`}>{capitalized(status)}</span>;
}
