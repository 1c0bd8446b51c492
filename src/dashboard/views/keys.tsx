import { useState } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { ControlData, ListedKey, ShownSentRequest } from "../control/responses.js";
import { linkTo, linkToKey, linkWithin, route } from "../control/route.js";
import { Button, RejectionText, useActions, useOffline } from "../elements/action.js";
import { type Option, Options } from "../elements/form.js";
import { filterInAddress, ListHead, limitInAddress, MoreRows, useRowInSight } from "../elements/list.js";
import { SentResponse, toneOf } from "../elements/request-parts.js";
import { counted, FactList, InstantText, Sentence, shortened, Until } from "../elements/words.js";
import { createKeyIn, isOver, KeyActions, KeyDialog } from "./key-dialog.js";
import { Lifelines } from "./lifelines.js";
import { CopyKey } from "./secret.js";

type DirectoryPart = ControlData[`/directory?${string}`]["sections"][number];

/** How many keys are drawn at most. */
const maxLines = 20;

export function KeysView() {
  const filter = filterInAddress();
  const query = new URLSearchParams({ filter, limit: `${limitInAddress()}` });
  const { data, problem } = useData(`/directory?${query}`);
  const { sections = [], matching = 0, total = 0, left = 0 } = data ?? {};
  const keys = sections.flatMap(({ keys }) => keys);
  const opened = route.value.parts[0];
  useRowInSight(opened);

  const linesQuery = new URLSearchParams({ filter, limit: `${maxLines}` });
  const { lifelines = [], left: linesLeft = 0 } = useData(`/lifelines?${linesQuery}`).data ?? {};

  const isRead = data !== undefined;
  const isListed = keys.some(({ ref }) => ref === opened);
  const isMissing = isRead && opened !== undefined && !isListed;
  const create = () => createKeyIn(sections[0]?.organization.ref);
  return (
    <>
      <ListHead
        title="Keys"
        count={data && { matching, total, all: counted(total, "key") }}
        placeholder="Ref, name, organization, state, scope"
      >
        <Button class="end" isDisabled={!isRead} run={create}>
          Create a key
        </Button>
      </ListHead>
      <RejectionText problem={problem} />
      {isMissing && (
        <p class="panel muted">
          There is no key <bdi>{shortened(opened, 100)}</bdi> in this list.{" "}
          {filter !== opened && <a href={linkToKey(opened)}>Look for it</a>}
        </p>
      )}
      {isRead && sections.length === 0 && <p class="panel muted">No keys match the filter.</p>}
      {lifelines.length > 0 && (
        <section class="panel lifelines" aria-label="Lifelines">
          <h2>Lifelines</h2>
          <Lifelines lines={lifelines} left={linesLeft} linkTo={(ref) => linkWithin([ref])} canMove />
        </section>
      )}
      {sections.map((section) => (
        <OrganizationPanel key={section.organization.ref} {...section} />
      ))}
      <MoreRows left={left} />
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
        <Permissions organization={organization} />
      </header>
      {keys.length === 0 && <p class="muted">No keys yet.</p>}
      {keys.length > 0 && (
        <div class="rows-box">
          <ul class="rows keys" aria-label={`Keys of ${ref}`}>
            {keys.map((key) => (
              <KeyRow key={key.ref} listed={key} />
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

/** Choices that change what an organization may do. */
function Permissions({ organization }: Pick<DirectoryPart, "organization">) {
  const { enqueue, problem } = useActions();
  const path = `/organizations/${encodeURIComponent(organization.ref)}`;
  const change = (body: object) => enqueue(() => call(path, { method: "PATCH", body }));

  return (
    <div class="bar access">
      <Choice
        label="Status"
        value={organization.status}
        options={["active", "inactive"]}
        onChange={(status) => change({ status })}
      />
      <Choice
        label="Sandbox access"
        value={organization.sandbox_access ? "on" : "off"}
        options={["on", "off"]}
        onChange={(access) => change({ sandbox_access: access === "on" })}
      />
      <Choice
        label="Live access"
        value={organization.live_access}
        options={[["not_approved", "not approved"], "approved", "suspended"]}
        onChange={(live_access) => change({ live_access })}
      />
      <RejectionText problem={problem} />
    </div>
  );
}

function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (chosen: string) => void;
}) {
  const { label, value, options, onChange } = props;
  return (
    <label class="labeled">
      {label}
      <select
        value={value}
        disabled={useOffline()}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        <Options options={options} />
      </select>
    </label>
  );
}

/** `1 of 60 a minute`, on one line. */
function usageText(used: number, limit: number, unit: string): string {
  const text = `${used.toLocaleString("en")} of ${limit.toLocaleString("en")} a ${unit}`;
  return text.replaceAll(" ", "\u00A0");
}

function KeyRow({ listed: key }: Readonly<{ listed: ListedKey }>) {
  const { ref, environment, usage, limits, state, ends_at: end } = key;
  const isOpen = route.value.parts[0] === ref;
  const next = key.next_request;
  let nextWords = next.sentence;
  if (next.status === 401) nextWords = "401 unauthorized";

  const hasEnded = isOver(key);
  const willEnd = state === "retiring" ? "retiring, ends" : "ends";
  return (
    <li data-row={ref}>
      <a href={linkWithin(isOpen ? [] : [ref])} aria-current={isOpen}>
        {ref}
      </a>
      <CopyKey keyRef={ref} />
      <span class="marks">
        <span class={`badge ${environment === "live" ? "toned tone-access" : ""}`}>{environment}</span>
        {key.legacy && <span class="badge">legacy</span>}
      </span>
      <span class="muted">
        gets{" "}
        <strong class={`toned tone-${toneOf(next.outcome)}`}>
          <Sentence>{nextWords}</Sentence>
        </strong>
        {end && (
          <>
            , {hasEnded ? state : willEnd} <Until at={end} hasHappened={hasEnded} />
          </>
        )}
      </span>
      <span class="muted small">
        {usageText(usage.this_minute, limits.per_minute, "minute")},{" "}
        {usageText(usage.today, limits.per_day, "day")}
      </span>
      {isOpen && <OpenKey listed={key} />}
    </li>
  );
}

const keyLink = (ref: string | null) => ref && <a href={linkToKey(ref)}>{ref}</a>;

/** The rest of a key, and what can be done with it (R42). */
function OpenKey({ listed: key }: Readonly<{ listed: ListedKey }>) {
  const { ref, state, ends_at: end } = key;
  const [sent, setSent] = useState<ShownSentRequest>();
  const hasEnded = isOver(key);

  const send = async () => {
    setSent(await call("/send", { method: "POST", body: { key: ref } }));
  };
  return (
    <section class="stack row-detail" aria-label={`Key ${ref}`}>
      <FactList
        class="facts"
        facts={[
          ["Name", key.name],
          ["State", state],
          ["Scopes", <code>{key.scopes.join(" ")}</code>],
          ["Fingerprint", <code>{key.fingerprint}</code>],
          ["Created", key.created_at && <InstantText at={key.created_at} />],
          [hasEnded ? "Ended" : "Ends", end && <InstantText at={end} />],
          ["Replaced by", keyLink(key.replaced_by)],
          ["Replaces", keyLink(key.replaces)],
        ]}
      />
      <div class="bar">
        <Button class="quiet small" run={send}>
          Send a request
        </Button>
        <KeyActions listed={key} />
        <a href={linkTo("requests", [], { filter: ref })}>Its requests</a>
      </div>
      <output class="stack">{sent && <SentResponse sent={sent} />}</output>
    </section>
  );
}
