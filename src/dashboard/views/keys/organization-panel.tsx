import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../../control/call.js";
import type { Shown } from "../../control/responses.js";
import { RejectionText, useActionQueue } from "../../elements/forms/action.js";
import { Select } from "../../elements/forms/field.js";
import { Until } from "../../elements/instant.js";
import { firstEndOf, hasEnded, KeyState } from "../../elements/key-state.js";
import { type Row, Table } from "../../elements/table.js";
import { SentResponse } from "../../elements/traffic/sent-response.js";
import { linkTo } from "../../route.js";
import { actor } from "./actor.js";
import { KeyActions, KeyVerdict, SendButton } from "./key-actions.js";

type Key = Shown<"ListedKey">;
type Organization = Shown<"Organization">;

interface OrganizationPanelProps {
  readonly section: Shown<"Directory">["sections"][number];
}

export function OrganizationPanel({ section }: OrganizationPanelProps) {
  const { organization, keys, active, is_continued: isContinued } = section;
  const { ref, name, type } = organization;
  // The last responses to requests from this page, by the ref of their key.
  const sent = useSignal<Readonly<Record<string, Shown<"Sent">>>>({});
  const rows = keys.map((key) => {
    const onSent = (response: Shown<"Sent">) => {
      sent.value = { ...sent.value, [key.ref]: response };
    };
    return rowOf(key, sent.value[key.ref], onSent);
  });
  return (
    <section class="panel stack" aria-label={ref}>
      <header class="bar">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <p class="muted wide">
          <code>{ref}</code> · {type} · active: {active.test}/5 test, {active.live}/5 live
          {isContinued ? " · continued" : ""}
        </p>
        <Access organization={organization} />
      </header>
      {keys.length === 0 ? (
        <p class="muted empty">No keys yet. Create one to call the API.</p>
      ) : (
        <Table label={`Keys of ${ref}`} columns={columns} rows={rows} />
      )}
    </section>
  );
}

type Change = Partial<Pick<Organization, "status" | "sandbox_access" | "live_access">>;

function Access({ organization }: { readonly organization: Organization }) {
  // Shown until the sandbox reports the change.
  const wanted = useSignal<Change>({});
  useEffect(() => {
    wanted.value = {};
  }, [JSON.stringify(organization)]);
  const { add, problem } = useActionQueue();
  const change = (next: Change) => {
    wanted.value = { ...wanted.value, ...next };
    add(async () => {
      const path = `/organizations/${encodeURIComponent(organization.ref)}`;
      try {
        await call(path, { method: "PATCH", body: next, actor: actor.value });
      } catch (error) {
        wanted.value = {};
        throw error;
      }
    });
  };
  const { status, sandbox_access, live_access } = { ...organization, ...wanted.value };
  return (
    <div class="bar small">
      <Select
        label="Status"
        value={status}
        of={["active", "inactive"]}
        onChange={(to) => change({ status: to as typeof status })}
      />
      <Select
        label="Sandbox access"
        value={sandbox_access ? "on" : "off"}
        of={["on", "off"]}
        onChange={(to) => change({ sandbox_access: to === "on" })}
      />
      <Select
        label="Live access"
        value={live_access}
        of={[["not_approved", "not approved"], "approved", "suspended"]}
        onChange={(to) => change({ live_access: to as typeof live_access })}
      />
      <RejectionText problem={problem} />
    </div>
  );
}

const columns = ["Key", "State", "Minute · day", "Next request gets", "Actions"];

function rowOf(key: Key, sent: Shown<"Sent"> | undefined, onSent: (sent: Shown<"Sent">) => void): Row {
  const { ref, name, environment, legacy, scopes, usage, limits } = key;
  const end = firstEndOf(key);
  return {
    key: ref,
    cells: [
      <span key="key" class="bar key-name">
        <a href={linkTo("keys", [ref])} title={`${name}, ${scopes.join(" ")}`}>
          {ref}
        </a>
        <span class={`badge ${environment === "live" ? "toned tone-access" : ""}`}>{environment}</span>
        {legacy ? <span class="badge">legacy</span> : null}
      </span>,
      <span key="state">
        <KeyState state={key.state} />{" "}
        {end === null || hasEnded(key) ? null : (
          <span class="muted">
            ends <Until at={end} />
          </span>
        )}
      </span>,
      <span key="usage" class="muted">
        {usage.this_minute.toLocaleString("en")}/{limits.per_minute.toLocaleString("en")} ·{" "}
        {usage.today.toLocaleString("en")}/{limits.per_day.toLocaleString("en")}
      </span>,
      <KeyVerdict key="next" of={key} />,
      <div key="actions" class="key-actions">
        <SendButton keyRef={ref} onSent={onSent} />
        <KeyActions of={key} />
      </div>,
    ],
    below: sent === undefined ? undefined : <SentResponse sent={sent} />,
  };
}
