import { useState } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type {
  DirectoryPart,
  IsOver,
  KeyAction,
  KeyEnd,
  ListedKey,
  ShownSentRequest,
} from "../control/responses.js";
import { Button, RejectionText, useActions, useOffline } from "../elements/action.js";
import { Options } from "../elements/form.js";
import { filterInAddress, ListHead, limitInAddress, MoreRows, useSteadyRow } from "../elements/list.js";
import { SentResponse, toneOf } from "../elements/traffic.js";
import { counted, FactList, InstantText, Sentence, shortened, Until } from "../elements/words.js";
import { linkTo, linkToKey, linkWithin, route } from "../route.js";
import { KeyDialog, openDialog } from "./key-dialog.js";
import { CopyKey } from "./secret.js";

export function KeysView() {
  const filter = filterInAddress();
  const query = new URLSearchParams({ filter, limit: `${limitInAddress()}` });
  const { data, problem } = useData(`/directory?${query}`);
  const { sections = [], matching = 0, total = 0 } = data ?? {};
  const shown = sections.flatMap(({ keys }) => keys);
  const opened = route.value.parts[0];
  useSteadyRow(opened);
  const isListed = shown.some(({ ref }) => ref === opened);
  const create = () => openDialog({ kind: "create", organization: sections[0]?.organization.ref });
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
      {data === undefined || opened === undefined || isListed ? null : (
        <p class="panel muted">
          There is no key <bdi>{shortened(opened, 100)}</bdi> in this list.{" "}
          {filter === opened ? null : <a href={linkToKey(opened)}>Look for it</a>}
        </p>
      )}
      {data === undefined || sections.length > 0 ? null : (
        <p class="panel muted">No keys match the filter.</p>
      )}
      {sections.map((section) => (
        <OrganizationPanel key={section.organization.ref} {...section} />
      ))}
      <MoreRows left={matching - shown.length} />
      <KeyDialog />
    </>
  );
}

function OrganizationPanel({ organization, keys, active }: DirectoryPart) {
  const { ref, name, type } = organization;
  return (
    <section class="panel stack" aria-label={ref}>
      <header class="bar apart">
        <div class="wide">
          <h2 dir="auto">{name}</h2>
          <p class="muted small">
            <code>{ref}</code> · {type} · {active.test} of 5 test keys, {active.live} of 5 live keys
          </p>
        </div>
        <Access organization={organization} />
      </header>
      {keys.length === 0 ? (
        <p class="muted">No keys yet.</p>
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

/** What an organization may do, to change. */
function Access({ organization }: Pick<DirectoryPart, "organization">) {
  const { add, problem } = useActions();
  const isOffline = useOffline();
  const { ref, status, sandbox_access, live_access } = organization;
  const sandbox = sandbox_access ? "on" : "off";
  const live = [["not_approved", "not approved"], "approved", "suspended"] as const;
  const permissions = [
    ["Status", status, ["active", "inactive"], (to: string) => ({ status: to })],
    ["Sandbox access", sandbox, ["on", "off"], (to: string) => ({ sandbox_access: to === "on" })],
    ["Live access", live_access, live, (to: string) => ({ live_access: to })],
  ] as const;
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

/** A retiring key works until its overlap ends. */
const isOver: IsOver = { active: false, retiring: false, revoked: true, expired: true, rotated: true };

const isEnd: Readonly<Record<KeyEnd, true>> = { revoked_at: true, expires_at: true, overlap_ends_at: true };

/** When a key is over for good, or has been since: the first end of a key that is not revoked; `null` without an end. */
function endOf(key: ListedKey): string | null {
  const ends = (Object.keys(isEnd) as KeyEnd[]).flatMap((end) => key[end] ?? []); // its own names
  return key.revoked_at ?? ends.sort()[0] ?? null;
}

/** `1 of 60 a minute`, on one line. */
const usageText = (used: number, limit: number, unit: string) =>
  `${used.toLocaleString("en")} of ${limit.toLocaleString("en")} a ${unit}`.replaceAll(" ", "\u00A0");

function KeyRow({ of: key }: Readonly<{ of: ListedKey }>) {
  const { ref, environment, legacy, usage, limits, state, next_request: next } = key;
  const isOpen = route.value.parts[0] === ref;
  const end = endOf(key);
  const hasEnded = isOver[state];
  return (
    <li data-row={ref}>
      <a href={linkWithin(isOpen ? [] : [ref])} aria-current={isOpen}>
        {ref}
      </a>
      <CopyKey of={ref} />
      <span class="marks">
        <span class={`badge ${environment === "live" ? "toned tone-access" : ""}`}>{environment}</span>
        {legacy && <span class="badge">legacy</span>}
      </span>
      <span class="muted">
        gets{" "}
        <strong class={`toned tone-${toneOf(next.outcome)}`}>
          <Sentence>{next.status === 401 ? "401 unauthorized" : next.sentence}</Sentence>
        </strong>
        {end && (
          <>
            , {hasEnded ? state : state === "retiring" ? "retiring, ends" : "ends"}{" "}
            <Until at={end} hasHappened={hasEnded} />
          </>
        )}
      </span>
      <span class="muted small">
        {usageText(usage.this_minute, limits.per_minute, "minute")},{" "}
        {usageText(usage.today, limits.per_day, "day")}
      </span>
      {isOpen && <OpenKey of={key} />}
    </li>
  );
}

/** The rest of a key, and what can be done with it (R42). */
function OpenKey({ of: key }: Readonly<{ of: ListedKey }>) {
  const { ref, state, name, scopes, fingerprint, replaced_by, replaces } = key;
  const [sent, setSent] = useState<ShownSentRequest>();
  const end = endOf(key);
  const hasEnded = isOver[state];
  const button = (kind: KeyAction, words: string) => (
    <Button class={`${kind === "revoke" ? "danger" : "quiet"} small`} run={() => openDialog({ kind, ref })}>
      {words}
    </Button>
  );
  const other = (to: string | null) => to && <a href={linkToKey(to)}>{to}</a>;
  return (
    <section class="stack row-detail" aria-label={`Key ${ref}`}>
      <FactList
        class="facts"
        of={[
          ["Name", name],
          ["State", state],
          ["Scopes", <code>{scopes.join(" ")}</code>],
          ["Fingerprint", <code>{fingerprint}</code>],
          [hasEnded ? "Ended" : "Ends", end && <InstantText at={end} />],
          ["Replaced by", other(replaced_by)],
          ["Replaces", other(replaces)],
        ]}
      />
      <div class="bar">
        <Button
          class="quiet small"
          run={async () => {
            setSent(await call("/send", { method: "POST", body: { key: ref } }));
          }}
        >
          Send a request
        </Button>
        {state === "active" && button("rotate", "Rotate…")}
        {hasEnded ? null : button("expire", "Set its end…")}
        {hasEnded ? null : button("revoke", "Revoke…")}
        <a href={linkTo("requests", [], { filter: ref })}>Its requests</a>
      </div>
      <output class="stack">{sent && <SentResponse sent={sent} />}</output>
    </section>
  );
}
