import { useState } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { Directory, ListedKey, ShownOrganization, ShownSentRequest } from "../control/responses.js";
import { Button, RejectionText, useActions, useOffline } from "../elements/action.js";
import { type Option, Options } from "../elements/form.js";
import { filterInAddress, ListHead, limitInAddress, MoreRows } from "../elements/list.js";
import { SentResponse, toneOf } from "../elements/traffic.js";
import { counted, FactList, InstantText, Sentence, Until } from "../elements/words.js";
import { linkTo, route } from "../route.js";
import { doing, KeyDialog } from "./key-dialog.js";
import { CopyKey } from "./secret.js";

export function KeysView() {
  const query = new URLSearchParams({ filter: filterInAddress(), limit: `${limitInAddress()}` });
  const { data, problem } = useData(`/directory?${query}`);
  const { sections = [], matching = 0, total = 0 } = data ?? {};
  const shown = sections.reduce((sum, { keys }) => sum + keys.length, 0);
  const create = () => {
    doing.value = { kind: "create", organizations: sections.map(({ organization }) => organization.ref) };
  };
  return (
    <>
      <ListHead
        title="Keys"
        count={data && { matching, total, all: counted(total, "key") }}
        placeholder="Ref, name, organization, state, scope"
      >
        <Button class="end" isDisabled={data === undefined} run={create}>
          Create a key
        </Button>
      </ListHead>
      <RejectionText problem={problem} />
      {data === undefined || sections.length > 0 ? null : (
        <p class="panel muted">No keys match the filter.</p>
      )}
      {sections.map((section) => (
        <OrganizationPanel key={section.organization.ref} section={section} />
      ))}
      <MoreRows left={matching - shown} />
      <KeyDialog />
    </>
  );
}

function OrganizationPanel({
  section: { organization, keys, active },
}: Readonly<{ section: Directory["sections"][number] }>) {
  const { ref, name, type } = organization;
  return (
    <section class="panel stack" aria-label={ref}>
      <header class="bar apart">
        <div class="wide">
          <h2>
            <bdi>{name}</bdi>
          </h2>
          <p class="muted small">
            <code>{ref}</code> · {type} · {active.test} of 5 test keys, {active.live} of 5 live keys
          </p>
        </div>
        <Access organization={organization} />
      </header>
      {keys.length === 0 ? (
        <p class="muted">No keys yet. Create one to call the API.</p>
      ) : (
        <div class="rows-box">
          <ul class="rows keys" aria-label={`Keys of ${ref}`}>
            {keys.map((key) => (
              <KeyRow key={key.ref} of={key} />
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

/** What an organization may do, to change: a label, a value, the values to choose from, and the change to one of them. */
type Permission = readonly [
  label: string,
  value: string,
  of: readonly Option[],
  changeTo: (value: string) => object,
];

function Access({ organization }: Readonly<{ organization: ShownOrganization }>) {
  const { add, problem } = useActions();
  const isOffline = useOffline();
  const { ref, status, sandbox_access, live_access } = organization;
  const sandbox = sandbox_access ? "on" : "off";
  const live: readonly Option[] = [["not_approved", "not approved"], "approved", "suspended"];
  const permissions: readonly Permission[] = [
    ["Status", status, ["active", "inactive"], (to) => ({ status: to })],
    ["Sandbox access", sandbox, ["on", "off"], (to) => ({ sandbox_access: to === "on" })],
    ["Live access", live_access, live, (to) => ({ live_access: to })],
  ];
  const change = (body: object) =>
    add(() => call(`/organizations/${encodeURIComponent(ref)}`, { method: "PATCH", body }));
  return (
    <div class="bar access">
      {permissions.map(([label, value, of, changeTo]) => (
        <label key={label} class="labeled">
          {label}
          <select
            value={value}
            disabled={isOffline}
            onChange={({ currentTarget }) => change(changeTo(currentTarget.value))}
          >
            <Options of={of} />
          </select>
        </label>
      ))}
      <RejectionText problem={problem} />
    </div>
  );
}

/** Whether a key is over for good. A retiring key works until its overlap ends. */
const hasEnded = ({ state }: ListedKey) => state !== "active" && state !== "retiring";

/** When a key is over for good, or has been since; `null` for a key without an end. */
function endOf({ revoked_at, expires_at, overlap_ends_at }: ListedKey): string | null {
  const ends = [expires_at, overlap_ends_at].filter((at) => at !== null);
  return revoked_at ?? ends.sort((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null;
}

function KeyRow({ of: key }: Readonly<{ of: ListedKey }>) {
  const { ref, environment, legacy, usage, limits, state, next_request: next } = key;
  const isOpen = route.value.parts[0] === ref;
  const end = endOf(key);
  const query = Object.fromEntries(route.value.query);
  return (
    <li data-row={ref}>
      <a href={linkTo("keys", isOpen ? [] : [ref], query)} aria-current={isOpen}>
        {ref}
      </a>
      <span class="marks">
        <span class={`badge ${environment === "live" ? "toned tone-access" : ""}`}>{environment}</span>
        {legacy && <span class="badge">legacy</span>}
      </span>
      <CopyKey of={ref}>Copy</CopyKey>
      <span class="muted">
        gets{" "}
        <strong class={`toned tone-${toneOf(next.outcome)}`}>
          <Sentence>{next.status === 401 ? "401 unauthorized" : next.sentence}</Sentence>
        </strong>
        {end && (
          <>
            , {hasEnded(key) ? state : state === "retiring" ? "retiring, ends" : "ends"}{" "}
            <Until at={end} hasHappened={hasEnded(key)} />
          </>
        )}
      </span>
      <span class="muted">
        {usage.this_minute.toLocaleString("en")} of {limits.per_minute.toLocaleString("en")} a minute,{" "}
        {usage.today.toLocaleString("en")} of {limits.per_day.toLocaleString("en")} a day
      </span>
      {isOpen && <OpenKey of={key} />}
    </li>
  );
}

/** The rest of a key, and what can be done with it (R42). */
function OpenKey({ of: key }: Readonly<{ of: ListedKey }>) {
  const { ref, state, name, scopes, fingerprint, replaced_by, replaces } = key;
  const [sent, setSent] = useState<ShownSentRequest | undefined>(undefined);
  const end = endOf(key);
  const button = (kind: "rotate" | "expire" | "revoke", words: string) => (
    <Button
      class={`${kind === "revoke" ? "danger" : "quiet"} small`}
      run={() => {
        doing.value = { kind, ref };
      }}
    >
      {words}
    </Button>
  );
  const other = (to: string | null) => to && <a href={linkTo("keys", [to], { filter: to })}>{to}</a>;
  return (
    <section class="stack row-detail" aria-label={`Key ${ref}`}>
      <FactList
        class="facts"
        of={[
          ["Name", name],
          ["State", state],
          ["Scopes", <code>{scopes.join(" ")}</code>],
          ["Fingerprint", <code>{fingerprint}</code>],
          [hasEnded(key) ? "Ended" : "Ends", end && <InstantText at={end} />],
          ["Replaced by", other(replaced_by)],
          ["Replaces", other(replaces)],
        ]}
      />
      <div class="bar">
        <CopyKey of={ref}>Copy the key</CopyKey>
        <Button
          class="quiet small"
          run={async () => {
            setSent(await call("/send", { method: "POST", body: { key: ref } }));
          }}
        >
          Send a request
        </Button>
        {state === "active" && button("rotate", "Rotate…")}
        {hasEnded(key) ? null : button("expire", "Set its end…")}
        {hasEnded(key) ? null : button("revoke", "Revoke…")}
        <a href={linkTo("requests", [], { filter: ref })}>Its requests</a>
      </div>
      <output class="stack">{sent && <SentResponse sent={sent} />}</output>
    </section>
  );
}
