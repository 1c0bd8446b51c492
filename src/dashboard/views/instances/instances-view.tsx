import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { baseUrl, call, callBare } from "../../control/call.js";
import { formSchemas } from "../../control/form-schemas.generated.js";
import { elapsed } from "../../control/now.js";
import { usePage, useResources } from "../../control/resource.js";
import { scenarios } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { CopyButton } from "../../elements/copy-button.js";
import { RejectionText } from "../../elements/forms/action.js";
import { AskButton } from "../../elements/forms/ask.js";
import { type Body, SchemaForm } from "../../elements/forms/schema-form.js";
import { Select } from "../../elements/forms/select.js";
import { durationText, instantText } from "../../elements/instant.js";
import { Paging, pageOf, pagesOf } from "../../elements/paging.js";
import { Table } from "../../elements/table.js";
import { PathBadge } from "../../elements/traffic/path-badge.js";
import { counted, shortened } from "../../elements/words.js";
import { changeQuery, route } from "../../route.js";
import { variablesOf } from "./access.js";

export function InstancesView() {
  return (
    <>
      <h1>Instances</h1>
      <p class="muted">
        Isolated sandboxes on this server, for example one for each test or partner. Each has its own base
        URL, keys and page.
      </p>
      <NewInstance />
      {notices.value.map((notice) => (
        <NoticeOf key={notice.url} notice={notice} />
      ))}
      <InstanceList />
    </>
  );
}

/** What this page only knows until a reload: the one-time link of an instance and, if this page created it, its keys and token. */
interface Notice {
  readonly of: Pick<Row, "id" | "label">;
  readonly url: string;
  readonly made?: Shown<"Instance">;
  readonly isCopied?: boolean;
}

// Kept while other views are shown.
const notices = signal<readonly Notice[]>([]);

addEventListener("beforeunload", (event) => {
  if (notices.value.some(({ isCopied }) => !isCopied)) event.preventDefault();
});

function addNotice(notice: Notice): void {
  // A new link replaces the earlier one.
  notices.value = [...notices.value.filter(({ of, made }) => made || of.id !== notice.of.id), notice];
}

function NoticeOf({ notice }: { readonly notice: Notice }) {
  const { of, url, made } = notice;
  const replace = (...by: readonly Notice[]) => {
    notices.value = notices.value.flatMap((one) => (one.url === url ? by : [one]));
  };
  const onCopied = () => replace({ ...notice, isCopied: true });
  return (
    <div class="notice" role="status">
      {made === undefined ? (
        <p>
          The new link for <bdi>{nameOf(of)}</bdi> works once, and replaces the earlier link. Its use replaces
          the token.
        </p>
      ) : (
        <p>
          <bdi>{nameOf(of)}</bdi> is ready at <code>{made.base_url}</code>. Copy its keys and token now: this
          page keeps them only until you close this notice or reload.
        </p>
      )}
      <p class="bar">
        <CopyButton text={url} onCopied={onCopied}>
          {made === undefined ? "Copy the link" : "Copy a one-time link for a partner"}
        </CopyButton>
        {made === undefined ? null : (
          <CopyButton text={variablesOf(made)} onCopied={onCopied}>
            Copy URL, keys and token as variables
          </CopyButton>
        )}
        <button type="button" class="quiet" onClick={() => replace()}>
          Close<span class="visually-hidden"> the notice for {nameOf(of)}</span>
        </button>
      </p>
    </div>
  );
}

type Row = Shown<"InstancePage">["data"][number];

const nameOf = ({ label, id }: Pick<Row, "label" | "id">) => label ?? id;

function InstanceList() {
  const { query } = route.value;
  const label = query.get("filter") ?? "";
  const sort = query.get("sort") ?? "";
  const { page, path } = pageOf("/instances", { label, sort });
  const { shown, problem } = usePage<Shown<"InstancePage">>(path, callBare);
  const readAt = useMemo(() => performance.now(), [shown]);
  if (shown === undefined) return <RejectionText problem={problem} />;
  const passed = Math.max(0, elapsed.value - readAt);
  return (
    <section class="stack" aria-label="Instances">
      <search class="bar">
        <label>
          Search{" "}
          <input
            type="search"
            value={label}
            placeholder="label or id"
            onInput={({ currentTarget }) => changeQuery({ filter: currentTarget.value, page: undefined })}
          />
        </label>
        <Select
          label="First"
          value={sort}
          of={[
            ["", "newest"],
            ["errors", "most errors"],
            ["last_request", "last request"],
            ["expiry", "next expiry"],
          ]}
          onChange={(next) => changeQuery({ sort: next, page: undefined })}
        />
        <Paging page={page} pages={pagesOf(shown.total)}>
          {counted(shown.total, "instance")}
        </Paging>
      </search>
      <p class="muted">
        The server removes an instance when it expires, or without requests for{" "}
        {durationText(shown.idle_limit_seconds * 1000)}.
      </p>
      <RejectionText problem={problem} />
      {shown.data.length === 0 ? (
        <p>{label === "" ? "No instances." : "No instances match the search."}</p>
      ) : (
        <Table
          label="List of instances"
          columns={["Instance", ...figures, "Last request", "Expires", "Limit", "Actions"]}
          numbers={figures}
          minor={["Limit"]}
          rows={shown.data.map((one) => ({ key: one.id, cells: cellsOf(one, passed) }))}
        />
      )}
    </section>
  );
}

async function makeLink(of: Row): Promise<void> {
  const made = await call<{ claim_url: string }>(`/instances/${of.id}/link`, { method: "POST" });
  addNotice({ of, url: made.claim_url });
}

async function remove(id: string): Promise<void> {
  await call(`/instances/${id}`, { method: "DELETE" });
  notices.value = notices.value.filter(({ of }) => of.id !== id);
}

const figures = ["Requests", "Coverage", "Errors"] as const;

function cellsOf(of: Row, passed: number): ComponentChildren[] {
  const { id, traffic, requests_per_minute: limit, expires_at: end } = of;
  const name = <bdi class="visually-hidden"> {nameOf(of)}</bdi>;
  return [
    <a key="name" href={`${baseUrl}/i/${id}/__sandbox/`}>
      <bdi>{shortened(nameOf(of), 40)}</bdi>
    </a>,
    traffic?.requests.toLocaleString("en"),
    traffic === null ? null : `${traffic.coverage}%`,
    traffic?.errors.toLocaleString("en"),
    traffic?.last_path_id ? (
      <span key="last">
        <PathBadge pathId={traffic.last_path_id} />{" "}
        <span class="muted">{durationText(of.idle_seconds * 1000 + passed, 1)} ago</span>
      </span>
    ) : null,
    end === null ? (
      "when\u00A0idle"
    ) : (
      <time key="end" dateTime={end} title={instantText(end)}>
        in {durationText(Date.parse(end) - Date.now(), 1)}
      </time>
    ),
    limit === null ? "none" : `${limit.toLocaleString("en")}/min`,
    <span key="actions" class="bar">
      <AskButton
        class="quiet"
        question={{
          title: `Make a new link for ${nameOf(of)}?`,
          action: "Make a new link",
          run: () => makeLink(of),
          text: "The earlier link stops working. Whoever uses the new one gets a new token, which ends the earlier.",
        }}
      >
        New link{name}
      </AskButton>
      <AskButton
        question={{
          title: `Remove ${nameOf(of)}?`,
          action: "Remove the instance",
          run: () => remove(id),
          loses: "state",
          of: `/../i/${id}/__sandbox`,
          text: "Its base URL, keys, token and link stop working. Whoever has them needs a new instance.",
        }}
      >
        Remove{name}
      </AskButton>
    </span>,
  ];
}

const creation: Body = {
  schema: formSchemas.instance_creation,
  fields: ["label", "scenario", "profile", "expires", "requests_per_minute", "seed"],
};

function NewInstance() {
  useResources(scenarios);
  const panel = useRef<HTMLDetailsElement>(null);
  const create = async (body: object, form: HTMLFormElement) => {
    const made = await call<Shown<"Instance">>("/instances", { method: "POST", body });
    addNotice({ of: made, url: made.claim_url, made });
    form.reset();
    // The notice is what counts now.
    if (panel.current !== null) panel.current.open = false;
  };
  return (
    <details class="panel" ref={panel}>
      <summary>
        <strong>Create an instance</strong>
      </summary>
      <SchemaForm
        body={creation}
        action="Create the instance"
        send={create}
        choices={{ scenario: (scenarios.data.value ?? []).map(({ name }) => name) }}
      />
    </details>
  );
}
