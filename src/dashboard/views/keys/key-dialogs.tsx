import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../../control/call.js";
import { formSchemas } from "../../control/form-schemas.generated.js";
import type { Shown } from "../../control/responses.js";
import { Ask } from "../../elements/forms/ask.js";
import { Dialog } from "../../elements/forms/dialog.js";
import { type Body, SchemaForm } from "../../elements/forms/schema-form.js";
import { actor } from "./actor.js";
import { Secret, useIssued } from "./secret.js";

/** The open dialog: what is done with a key, or the organizations that a new one may have. */
type Doing =
  | { readonly kind: "create"; readonly organizations: readonly string[] }
  | { readonly kind: "rotate" | "expire" | "revoke"; readonly ref: string };

export const doing = signal<Doing | undefined>(undefined);

const onClose = () => {
  doing.value = undefined;
};

const post = <Data,>(path: string, body?: object) =>
  call<Data>(path, { method: "POST", body, actor: actor.value });

/** The dialog of the view: a question, a form, or the secret of the key that the form created. */
export function KeyDialog() {
  // A dialog of the view that was left.
  useEffect(() => onClose, []);
  const open = doing.value;
  if (open === undefined) return null;
  if (open.kind !== "revoke") return <KeyForm key={open.kind} of={open} />;
  return (
    <Ask
      title={`Revoke ${open.ref}?`}
      action="Revoke the key"
      run={() => post(pathOf(open.ref, "revoke"))}
      text={
        <>
          The next request with <code>{open.ref}</code> gets 401. This cannot be undone.
        </>
      }
      onClose={onClose}
    />
  );
}

interface FormWords {
  readonly title: string;
  readonly action: string;
  readonly path: string;
  readonly body: Body;
  readonly before?: string;
}

const pathOf = (ref: string, call: string) => `/keys/${encodeURIComponent(ref)}/${call}`;

const limits = ["limits.per_minute", "limits.per_day"];
const creation: FormWords = {
  title: "Create a key",
  action: "Create the key",
  path: "/keys",
  body: {
    schema: formSchemas.key_creation,
    fields: ["name", "organization", "environment", "scopes", ...limits, "expires", "ref"],
  },
};

function formOf(of: Doing): FormWords {
  if (of.kind === "create") return creation;
  if (of.kind === "rotate") {
    return {
      title: `Rotate ${of.ref}`,
      action: "Rotate the key",
      path: pathOf(of.ref, "rotate"),
      body: { schema: formSchemas.key_rotation, fields: ["overlap_minutes", "as"] },
      before:
        "The replacement has the same name, scopes and limits, and works immediately. The old key works until its overlap ends.",
    };
  }
  return {
    title: `The end of ${of.ref}`,
    action: "Set the end",
    path: pathOf(of.ref, "expire"),
    body: { schema: formSchemas.key_expiry, fields: ["expires"] },
  };
}

/** A form, then the secret of the key that it created. */
function KeyForm({ of }: { readonly of: Doing }) {
  const issued = useIssued();
  const { title, action, path, body, before } = formOf(of);
  const send = async (values: object) => {
    if (of.kind === "expire") await post(path, values).then(onClose);
    else issued.value = await post<Shown<"IssuedKey">>(path, values);
  };
  if (issued.value !== undefined) {
    return (
      <Dialog title={`The secret of ${issued.value.key.ref}`} onClose={onClose}>
        <Secret issued={issued.value} />
      </Dialog>
    );
  }
  return (
    <Dialog title={title} onClose={onClose}>
      {before === undefined ? null : <p>{before}</p>}
      <SchemaForm
        body={body}
        action={action}
        send={send}
        choices={of.kind === "create" ? { organization: of.organizations } : {}}
      />
    </Dialog>
  );
}
