import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { IssuedKey } from "../control/responses.js";
import { Shared, useShared } from "../control/shared.js";
import { Ask, Button } from "../elements/action.js";
import { Dialog } from "../elements/dialog.js";
import { Field, Form, FormDraft } from "../elements/form.js";
import { Secret, useIssued } from "./secret.js";

/** The open dialog: what is done with a key, or the organizations that a new one may have. */
type Doing =
  | { readonly kind: "create"; readonly organizations: readonly string[] }
  | { readonly kind: "rotate" | "expire" | "revoke"; readonly ref: string };

/** Stays while another view is shown, with what was entered. */
export const doing = new Shared<Doing | undefined>(undefined);

/** What was entered in the dialog, by the field's name in the body. */
const draft = new FormDraft();

const close = () => {
  doing.value = undefined;
  draft.empty();
};

/** The dialog of the view: a question, a form, or the secret of the key that the form created. */
export function KeyDialog() {
  const open = useShared(doing);
  if (open === undefined) return null;
  if (open.kind === "create") return <CreateForm organizations={open.organizations} />;
  const { kind, ref } = open;
  const path = `/keys/${encodeURIComponent(ref)}/${kind}`;
  if (kind === "rotate") return <RotateForm of={ref} path={path} />;
  if (kind === "expire") return <ExpireForm of={ref} path={path} />;
  return (
    <Ask
      title={`Revoke ${ref}?`}
      text={`The next request with ${ref} gets 401. This cannot be undone.`}
      action="Revoke the key"
      run={() => call(path, { method: "POST" })}
      onClose={close}
    />
  );
}

interface KeyFormProps {
  readonly title: string;
  readonly action: string;
  readonly path: string;
  readonly body: () => object;
  readonly children: ComponentChildren;
}

/** A form, then the secret of the key that it created. */
function KeyForm({ title, action, path, body, children }: KeyFormProps) {
  const [issued, setIssued] = useIssued();
  const isFilled = Object.values(useShared(draft).texts).some((text) => text !== "");
  const send = async () => {
    const response = await call<Partial<IssuedKey>>(path, { method: "POST", body: body() });
    if (response.secret === undefined) return close();
    setIssued(response as IssuedKey);
    draft.empty();
  };
  // Once the view is left, a secret is shown nowhere.
  useEffect(() => () => void (issued !== undefined && close()), [issued]);
  if (issued !== undefined) {
    return (
      <Dialog title={`The secret of ${issued.key.ref}`} onClose={close}>
        <Secret issued={issued} />
        <footer>
          <Button class="" run={close}>
            Done
          </Button>
        </footer>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} isFilled={isFilled} onClose={close}>
      <Form class="stack" draft={draft} send={send}>
        {children}
        <footer class="bar">
          <button type="submit">{action}</button>
          <Button run={close}>Cancel</Button>
          {isFilled && <span class="muted small">Cancel discards what you entered.</span>}
        </footer>
      </Form>
    </Dialog>
  );
}

/** A number; other text stays text, which the sandbox rejects. */
function numberIn(name: string): number | string | undefined {
  const text = draft.text(name);
  return text === undefined || Number.isNaN(Number(text)) ? text : Number(text);
}

function RotateForm({ of, path }: Readonly<{ of: string; path: string }>) {
  const body = () => ({ overlap_minutes: numberIn("overlap_minutes") });
  return (
    <KeyForm title={`Rotate ${of}`} action="Rotate the key" path={path} body={body}>
      <p>The new key has the same name, scopes and limits. The old one works until the overlap ends.</p>
      <Field
        draft={draft}
        name="overlap_minutes"
        label="Overlap in minutes"
        placeholder="60"
        hint="At most 10080: seven days"
      />
    </KeyForm>
  );
}

const endHint = "After a duration, such as 90s or 30d, or at a time, such as 2026-12-31T00:00:00Z";

function ExpireForm({ of, path }: Readonly<{ of: string; path: string }>) {
  return (
    <KeyForm
      title={`When ${of} ends`}
      action="Set the end"
      path={path}
      body={() => ({ expires: draft.text("expires") })}
    >
      <Field draft={draft} name="expires" label="Ends" required hint={endHint} />
    </KeyForm>
  );
}

const firstScope = "attestations:read";
const apiScopes = [firstScope, "attestations:write", "consents:read", "consents:write"];

const chosenScopes = () => (draft.value.texts.scopes ?? firstScope).split(" ").filter(Boolean);

function CreateForm({ organizations }: Readonly<{ organizations: readonly string[] }>) {
  const body = () => ({
    name: draft.text("name"),
    organization: draft.text("organization") ?? organizations[0],
    environment: draft.text("environment") ?? "test",
    scopes: chosenScopes(),
    limits: { per_minute: numberIn("limits.per_minute"), per_day: numberIn("limits.per_day") },
    expires: draft.text("expires"),
  });
  return (
    <KeyForm title="Create a key" action="Create the key" path="/keys" body={body}>
      <div class="form-fields">
        <Field draft={draft} name="name" label="Name" required placeholder="Core banking" />
        <Field draft={draft} name="organization" label="Organization" of={organizations} />
        <Field draft={draft} name="environment" label="Environment" of={["test", "live"]} />
        <Field draft={draft} name="expires" label="Ends" placeholder="never" hint={endHint} />
        <Field draft={draft} name="limits.per_minute" label="Requests per minute" placeholder="60" />
        <Field draft={draft} name="limits.per_day" label="Requests per day" placeholder="1000" />
        <Scopes />
      </div>
    </KeyForm>
  );
}

/** The API's scopes, and those of documented endpoints, which other keys have. */
function Scopes() {
  const { problems } = useShared(draft);
  const keys = useData("/keys?limit=1000").data ?? [];
  const scopes = [...new Set([...apiScopes, ...keys.flatMap((key) => key.scopes)])];
  const chosen = chosenScopes();
  const toggle = (scope: string) => {
    const next = scopes.filter((name) => chosen.includes(name) !== (name === scope));
    draft.enter("scopes", next.join(" "));
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
      {problems.scopes && (
        <p class="rejection small" role="alert">
          {problems.scopes}
        </p>
      )}
    </fieldset>
  );
}
