import { call } from "../../control/call.js";
import type { Shown } from "../../control/responses.js";
import { RejectionText, useActionQueue } from "../../elements/forms/action.js";
import { Select } from "../../elements/forms/select.js";
import { Until } from "../../elements/instant.js";
import { firstEndOf, hasEnded, KeyState } from "../../elements/key-state.js";
import { type Row, Table } from "../../elements/table.js";
import { linkTo } from "../../route.js";
import { actor } from "./actor.js";
import { KeyActions, KeyVerdict } from "./key-actions.js";

type Key = Shown<"ListedKey">;
type Organization = Shown<"Organization">;

interface OrganizationPanelProps {
  readonly section: Shown<"Directory">["sections"][number];
}

export function OrganizationPanel({ section }: OrganizationPanelProps) {
  const { organization, keys, active, is_continued: isContinued } = section;
  const { ref, name, type } = organization;
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
        <Table
          label={`Keys of ${ref}`}
          columns={columns}
          widths={widths}
          minor={["Minute · day"]}
          rows={keys.map(rowOf)}
        />
      )}
    </section>
  );
}

function Access({ organization }: { readonly organization: Organization }) {
  const { add, problem } = useActionQueue();
  const { ref, status, sandbox_access, live_access } = organization;
  const change = (body: object) =>
    add(() =>
      call(`/organizations/${encodeURIComponent(ref)}`, { method: "PATCH", body, actor: actor.value }),
    );
  return (
    <div class="bar small">
      <Select
        label="Status"
        value={status}
        of={["active", "inactive"]}
        onChange={(to) => change({ status: to })}
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
        onChange={(to) => change({ live_access: to })}
      />
      <RejectionText problem={problem} />
    </div>
  );
}

const columns = ["Key", "State", "Minute · day", "Next request gets", "Actions"];
// The columns of all organizations are in line.
const widths = ["20%", "12%", "18%", "auto", "9.6rem"];

function rowOf(key: Key): Row {
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
        <KeyActions of={key} />
      </div>,
    ],
  };
}
