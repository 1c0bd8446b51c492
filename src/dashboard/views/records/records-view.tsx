import { ControlError, call, callBare } from "../../control/call.js";
import { useNow } from "../../control/now.js";
import { usePage, useResources } from "../../control/resource.js";
import { collections } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { ActionButton, RejectionText } from "../../elements/forms/action.js";
import { AskButton, Confirm, Dialog } from "../../elements/forms/dialog.js";
import { TextField } from "../../elements/forms/field.js";
import { ActionForm, textIn } from "../../elements/forms/form.js";
import { InstantText } from "../../elements/instant.js";
import { Paging } from "../../elements/paging.js";
import { Table } from "../../elements/table.js";
import { BodyText } from "../../elements/traffic/body-text.js";
import { counted } from "../../elements/words.js";
import { linkTo, route, withQuery } from "../../route.js";

const rowsOnAPage = 50;

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
  const page = Math.max(1, Number(route.value.query.get("page") ?? 1) || 1);
  const path = withQuery(`/records/${name}`, {
    offset: String((page - 1) * rowsOnAPage),
    limit: String(rowsOnAPage),
  });
  const { shown, problem } = usePage<Shown<"RecordPage">>(
    path,
    ["sandbox.", "record.", "clock.", "time."],
    callBare,
  );
  if (shown === undefined) return <RejectionText problem={problem} />;
  const { data, total } = shown;
  const pages = Math.max(1, Math.ceil(total / rowsOnAPage));
  return (
    <div class="stack">
      <Paging page={page} pages={pages}>
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
  const set = (body: object) => call(path, { method: "PATCH", body });
  return (
    <div class="bar">
      {moves.map((move) => (
        <ActionButton key={move.operation} class="quiet" run={() => set(move.set)}>
          {move.operation}
        </ActionButton>
      ))}
      <AskButton class="quiet" question={(onClose) => <Editor {...{ id, set, onClose }} />}>
        Set…
      </AskButton>
      <AskButton
        class="danger"
        question={(onClose) => (
          <Confirm
            title={`Remove ${id}`}
            action="Remove"
            run={() => call(path, { method: "DELETE" })}
            onClose={onClose}
          >
            <p>Requests for it get 404 from now on.</p>
          </Confirm>
        )}
      >
        Remove
      </AskButton>
    </div>
  );
}

interface EditorProps {
  readonly id: string;
  readonly set: (members: object) => Promise<unknown>;
  readonly onClose: () => void;
}

function Editor({ id, set, onClose }: EditorProps) {
  return (
    <Dialog title={`Set members of ${id}`} onClose={onClose}>
      <ActionForm
        action="Set"
        send={async (fields) => {
          await set(membersIn(textIn(fields, "members") ?? "{}"));
          onClose();
        }}
      >
        {(problems) => (
          <TextField
            label="Members as JSON"
            name="members"
            required
            placeholder='{ "status": "granted" }'
            hint="They are merged with those of the record."
            problem={problems.members}
          />
        )}
      </ActionForm>
    </Dialog>
  );
}

function membersIn(text: string): object {
  try {
    return JSON.parse(text);
  } catch {
    throw new ControlError("validation_failed", "The members are not JSON.", {
      members: 'Write an object, such as { "status": "granted" }.',
    });
  }
}
