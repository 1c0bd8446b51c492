import { useSignal } from "@preact/signals";
import { useNow } from "../../control/now.js";
import { usePage, useResources } from "../../control/resource.js";
import { upcoming } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { RejectionText } from "../../elements/forms/action.js";
import { Select } from "../../elements/forms/select.js";
import { stateTones } from "../../elements/key-state.js";
import { Paging } from "../../elements/paging.js";
import { counted } from "../../elements/words.js";
import { changeQuery, route, withQuery } from "../../route.js";
import { actor } from "./actor.js";
import { doing, KeyDialog } from "./key-dialogs.js";
import { KeyDetails } from "./key-page.js";
import { OrganizationPanel } from "./organization-panel.js";

export function KeysView() {
  useNow();
  useResources(upcoming);
  const [ref] = route.value.parts;
  return (
    <>
      <div class="bar apart">
        <h1>Keys and organizations</h1>
        <ActorChoice />
      </div>
      {ref === undefined ? <KeyList /> : <KeyDetails key={ref} keyRef={ref} />}
      <KeyDialog />
    </>
  );
}

function ActorChoice() {
  return (
    <span title="Only administrators of the organization can create and manage keys (R33).">
      <Select
        label="Acting as"
        value={actor.value}
        of={["administrator", "member"]}
        onChange={(next) => {
          actor.value = next as typeof actor.value;
        }}
      />
    </span>
  );
}

// The address contains the filter, and must not contain a secret.
const looksLikeSecret = /svc_(test|live)_\w/i;

function KeyList() {
  const rejected = useSignal(false);
  const { query } = route.value;
  const filter = query.get("filter") ?? "";
  const state = query.get("state") ?? "";
  const path = withQuery("/directory", {
    state,
    page: query.get("page") ?? "",
    filter: looksLikeSecret.test(filter) ? "" : filter,
  });
  const { shown, problem } = usePage<Shown<"Directory">>(path);
  const rejection = <RejectionText problem={problem} />;
  if (shown === undefined) return problem === undefined ? <p class="muted">Reading…</p> : rejection;
  const setFilter = (input: HTMLInputElement) => {
    rejected.value = looksLikeSecret.test(input.value);
    if (rejected.value) input.value = "";
    changeQuery({ filter: input.value, page: undefined });
  };
  return (
    <>
      <search class="bar">
        {shown.sections.length === 0 ? null : (
          <button
            type="button"
            onClick={() => {
              const organizations = shown.sections.map(({ organization }) => organization.ref);
              doing.value = { kind: "create", organizations };
            }}
          >
            Create a key
          </button>
        )}
        <label>
          Filter{" "}
          <input
            type="search"
            value={filter}
            placeholder="ref, name, fingerprint, scope…"
            onInput={(event) => setFilter(event.currentTarget)}
          />
        </label>
        <Select
          label="State"
          value={state}
          of={[["", "all"], ...Object.keys(stateTones)]}
          onChange={(next) => changeQuery({ state: next, page: undefined })}
        />
        <Paging page={shown.page} pages={shown.pages}>
          {pageWords(shown)}
        </Paging>
      </search>
      {rejected.value ? (
        <p class="notice warning" role="status">
          This looks like a secret, which would become part of the address. Filter by ref, name or
          fingerprint.
        </p>
      ) : null}
      {rejection}
      {shown.sections.length === 0 ? (
        <p class="panel muted">No keys match the filter.</p>
      ) : (
        shown.sections.map((section) => (
          <OrganizationPanel key={section.organization.ref} section={section} />
        ))
      )}
    </>
  );
}

function pageWords({ first, last, matching, total, pages }: Shown<"Directory">): string {
  const text = (count: number) => count.toLocaleString("en");
  if (pages > 1) {
    const whole = matching === total ? "" : ` (${text(total)} in total)`;
    return `${text(first)}–${text(last)} of ${counted(matching, "key")}${whole}`;
  }
  return matching === total ? counted(total, "key") : `${text(matching)} of ${counted(total, "key")}`;
}
