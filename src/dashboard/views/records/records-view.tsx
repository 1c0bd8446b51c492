import { call, callBare } from "../../control/call.js";
import { useNow } from "../../control/now.js";
import { usePage, useResources } from "../../control/resource.js";
import { collections } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { ActionButton, RejectionText } from "../../elements/forms/action.js";
import { AskButton } from "../../elements/forms/ask.js";
import { InstantText } from "../../elements/instant.js";
import { Paging, pageOf, pagesOf } from "../../elements/paging.js";
import { Table } from "../../elements/table.js";
import { BodyText } from "../../elements/traffic/body-text.js";
import { counted } from "../../elements/words.js";
import { linkTo, route } from "../../route.js";

/** The collections of documented endpoints, and the records of one of them. */
export function RecordsView() {
  useResources(collections);
  const all = collections.data.value;
  if (all === undefined) return <p class="muted">Reading…</p>;
  const [first] = all;
  const chosen = all.find(({ collection }) => collection === route.value.parts[0]) ?? first;
  return (
    <>
      <h1>Records</h1>
      <p class="muted">
        What the operations of the document create and read. Each record belongs to the organization and the
        environment of its key.
      </p>
      {chosen === undefined ? null : (
        <>
          <nav class="bar" aria-label="Collections">
            {all.map(({ collection, records }) => (
              <a
                key={collection}
                href={linkTo("records", [collection])}
                aria-current={collection === chosen.collection ? "page" : undefined}
              >
                {collection} ({records.toLocaleString("en")})
              </a>
            ))}
          </nav>
          <RecordList key={chosen.collection} name={chosen.collection} />
        </>
      )}
    </>
  );
}

function RecordList({ name }: { readonly name: string }) {
  useNow();
  const { page, path } = pageOf(`/records/${name}`);
  const { shown, problem } = usePage<Shown<"RecordPage">>(
    path,
    ["sandbox.", "record.", "clock.", "time."],
    callBare,
  );
  if (shown === undefined) return <RejectionText problem={problem} />;
  const { data, total } = shown;
  return (
    <div class="stack">
      <Paging page={page} pages={pagesOf(total)}>
        {counted(total, "record")}
      </Paging>
      {total === 0 ? null : (
        <Table
          label={name}
          columns={["Record", "Changed", "Next", "Members", "Change"]}
          rows={data.map((record) => ({ key: record.id, cells: cellsOf(record) }))}
        />
      )}
    </div>
  );
}

function cellsOf(record: Shown<"Record">) {
  const { id, organization, environment, updated_at, next, members } = record;
  return [
    <div key="id">
      <code>{id}</code>
      <p class="muted">
        <bdi>{organization}</bdi>, {environment}
      </p>
    </div>,
    <InstantText key="changed" at={updated_at} />,
    next === null ? (
      "nothing"
    ) : (
      <span key="next">
        <InstantText at={next.at} /> <code>{JSON.stringify(next.set)}</code>
      </span>
    ),
    <details key="members">
      <summary>{counted(Object.keys(members).length, "member")}</summary>
      <BodyText text={JSON.stringify(members)} />
    </details>,
    <Changes key="change" record={record} />,
  ];
}

function Changes({ record: { collection, id, moves } }: { readonly record: Shown<"Record"> }) {
  const path = `/records/${collection}/${encodeURIComponent(id)}`;
  return (
    <div class="bar">
      {moves.map((move) => (
        <ActionButton
          key={move.operation}
          class="quiet"
          run={() => call(path, { method: "PATCH", body: move.set })}
        >
          {move.operation}
        </ActionButton>
      ))}
      <AskButton
        question={{
          title: `Remove ${id}?`,
          action: "Remove",
          run: () => call(path, { method: "DELETE" }),
          text: "Requests for it get 404 from now on.",
        }}
      >
        Remove
      </AskButton>
    </div>
  );
}
