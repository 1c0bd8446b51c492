import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call } from "../control/call.js";
import { useResources } from "../control/resource.js";
import { keys } from "../control/resources.js";
import type { IssuedKey } from "../control/responses.js";
import { Ask, Button, RejectionText, useActions } from "../elements/action.js";
import { Dialog } from "../elements/dialog.js";
import { Field, type FormDraft } from "../elements/form.js";
import { Secret, useIssued } from "./secret.js";

/** The open dialog: what is done with a key, or the organizations that a new one may have. */
type Doing =
  | { readonly kind: "create"; readonly organizations: readonly string[] }
  | { readonly kind: "rotate" | "expire" | "revoke"; readonly ref: string };

/** Stays while another view is shown, with what was entered. */
export const doing = signal<Doing | undefined>(undefined);

/** What was entered in the dialog. */
const draft: FormDraft = signal({});

const close = () => {
  doing.value = undefined;
  draft.value = {};
};

const pathOf = (ref: string, action: string) => `/keys/${encodeURIComponent(ref)}/${action}`;

/** The dialog of the view: a question, a form, or the secret of the key that the form created. */
export function KeyDialog() {
  const open = doing.value;
  if (open === undefined) return null;
  if (open.kind !== "revoke") return <KeyForm key={open.kind} of={open} />;
  return (
    <Ask
      title={`Revoke ${open.ref}?`}
      text={`The next request with ${open.ref} gets 401. This cannot be undone.`}
      action="Revoke the key"
      run={() => call(pathOf(open.ref, "revoke"), { method: "POST" })}
      onClose={close}
    />
  );
}

/** A form, then the secret of the key that it created. */
function KeyForm({ of }: Readonly<{ of: Doing }>) {
  const issued = useIssued();
  const form = useRef<HTMLFormElement>(null);
  const { problem, isRunning, add } = useActions();
  const { title, action, path, body } = formOf(of);
  const send = async () => {
    const response = await call<Partial<IssuedKey>>(path, { method: "POST", body: body() });
    if (response.secret === undefined) return close();
    issued.value = response as IssuedKey;
    draft.value = {};
  };
  // Once the view is left, a secret is shown nowhere.
  useEffect(() => () => void (issued.peek() !== undefined && close()), []);
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [problem]);
  if (issued.value !== undefined) {
    return (
      <Dialog title={`The secret of ${issued.value.key.ref}`} onClose={close}>
        <Secret issued={issued.value} />
        <footer>
          <Button class="" run={close}>
            Done
          </Button>
        </footer>
      </Dialog>
    );
  }
  const fields = problem?.fields ?? {};
  const isFilled = Object.values(draft.value).some((text) => text !== "");
  return (
    <Dialog title={title} isFilled={isFilled} onClose={close}>
      <form
        class="stack"
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isRunning) add(send);
        }}
      >
        <Fields of={of} problems={fields} />
        {Object.keys(fields).length === 0 ? (
          <RejectionText problem={problem} />
        ) : (
          <p class="rejection" role="alert">
            Correct the marked fields.
          </p>
        )}
        <footer class="bar">
          <button type="submit" aria-busy={isRunning}>
            {action}
          </button>
          <Button run={close}>Cancel</Button>
          {isFilled ? <span class="muted small">Cancel discards what you entered.</span> : null}
        </footer>
      </form>
    </Dialog>
  );
}

/** A number; what is not one stays text, which the sandbox rejects. */
const numberIn = (text: string) => (Number.isNaN(Number(text)) ? text : Number(text));

/** A member of a body, unless its field is empty. */
function member(name: string, field = name, read: (text: string) => unknown = String): object {
  const text = draft.value[field]?.trim() ?? "";
  return text === "" ? {} : { [name]: read(text) };
}

interface Form {
  readonly title: string;
  readonly action: string;
  readonly path: string;
  readonly body: () => object;
}

function formOf(of: Doing): Form {
  if (of.kind === "create")
    return {
      title: "Create a key",
      action: "Create the key",
      path: "/keys",
      body: () => newKey(of.organizations),
    };
  const path = pathOf(of.ref, of.kind);
  return of.kind === "rotate"
    ? {
        title: `Rotate ${of.ref}`,
        action: "Rotate the key",
        path,
        body: () => member("overlap_minutes", "overlap", numberIn),
      }
    : { title: `When ${of.ref} ends`, action: "Set the end", path, body: () => member("expires") };
}

const firstScope = "attestations:read";
const apiScopes = [firstScope, "attestations:write", "consents:read", "consents:write"];

const chosenScopes = () => (draft.value.scopes ?? firstScope).split(" ").filter(Boolean);

const newKey = ([organization]: readonly string[]) => ({
  name: draft.value.name,
  organization: draft.value.organization ?? organization,
  environment: draft.value.environment ?? "test",
  scopes: chosenScopes(),
  limits: { ...member("per_minute", "per_minute", numberIn), ...member("per_day", "per_day", numberIn) },
  ...member("expires"),
});

const endHint = "After a duration, such as 90s or 30d, or at a time, such as 2026-12-31T00:00:00Z";

function Fields({ of, problems }: Readonly<{ of: Doing; problems: Readonly<Record<string, string>> }>) {
  const field = (name: string, label: string, more: object = {}) => (
    <Field draft={draft} name={name} label={label} problem={problems[name]} {...more} />
  );
  if (of.kind === "expire") return field("expires", "Ends", { required: true, hint: endHint });
  if (of.kind !== "create") {
    return (
      <>
        <p>
          The replacement has the same name, scopes and limits, and works immediately. The old key works until
          the overlap ends.
        </p>
        {field("overlap", "Overlap in minutes", {
          placeholder: "60",
          hint: "At most 10080, which is seven days",
          problem: problems.overlap_minutes,
        })}
      </>
    );
  }
  return (
    <div class="form-fields">
      {field("name", "Name", { required: true, placeholder: "Core banking" })}
      {field("organization", "Organization", { of: of.organizations })}
      {field("environment", "Environment", { of: ["test", "live"] })}
      {field("expires", "Ends", { placeholder: "never", hint: endHint })}
      {field("per_minute", "Requests per minute", {
        placeholder: "60",
        problem: problems["limits.per_minute"],
      })}
      {field("per_day", "Requests per day", { placeholder: "1000", problem: problems["limits.per_day"] })}
      <Scopes problem={problems.scopes} />
    </div>
  );
}

/** The API's scopes, and those of documented endpoints, which other keys have. */
function Scopes({ problem }: Readonly<{ problem: string | undefined }>) {
  useResources(keys);
  const scopes = [...new Set([...apiScopes, ...(keys.data.value ?? []).flatMap((key) => key.scopes)])];
  const chosen = chosenScopes();
  const toggle = (scope: string) => {
    const next = scopes.filter((name) => chosen.includes(name) !== (name === scope));
    draft.value = { ...draft.value, scopes: next.join(" ") };
  };
  return (
    <fieldset class="field whole">
      <legend>Scopes</legend>
      <div class="bar">
        {scopes.map((scope) => (
          <label key={scope} class="choice">
            <input type="checkbox" checked={chosen.includes(scope)} onChange={() => toggle(scope)} /> {scope}
          </label>
        ))}
      </div>
      {problem === undefined ? null : <p class="rejection small">{problem}</p>}
    </fieldset>
  );
}
