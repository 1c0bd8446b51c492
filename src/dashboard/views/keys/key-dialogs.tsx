import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ControlError, call } from "../../control/call.js";
import { formSchemas } from "../../control/form-schemas.generated.js";
import type { Shown } from "../../control/responses.js";
import { Confirm, Dialog } from "../../elements/forms/dialog.js";
import { ActionForm } from "../../elements/forms/form.js";
import { type Body, bodyIn, SchemaFields } from "../../elements/forms/schema-form.js";
import { hasEnded } from "../../elements/key-state.js";
import { actor } from "./actor.js";
import { Secret, useIssued, useUnstored } from "./secret.js";

type Key = Shown<"ListedKey">;

interface KeyAction {
  readonly words: string;
  readonly class: "quiet" | "danger";
  /** Whether it is possible with a key (R42). */
  readonly isFor: (key: Key) => boolean;
  /** Whether only the key's own page has it. */
  readonly isOnPage?: boolean;
}

/** The actions with a key, in the order of their buttons. */
export const keyActions: Readonly<Record<"rotate" | "expire" | "revoke", KeyAction>> = {
  rotate: { words: "Rotate", class: "quiet", isFor: ({ state }) => state === "active" },
  expire: { words: "Ends in…", class: "quiet", isFor: (key) => !hasEnded(key), isOnPage: true },
  revoke: { words: "Revoke", class: "danger", isFor: (key) => !hasEnded(key) },
};

/** The open dialog: an action, and the key or organizations that it affects. */
type Doing =
  | { readonly kind: "create"; readonly organizations: readonly string[] }
  | { readonly kind: keyof typeof keyActions; readonly key: Key };

export const doing = signal<Doing | undefined>(undefined);

const onClose = () => {
  doing.value = undefined;
};

const post = <Result,>(path: string, body?: object) =>
  call<Result>(path, { method: "POST", body, actor: actor.value });

export function KeyDialog() {
  // A dialog of the view that was left.
  useEffect(() => onClose, []);
  const open = doing.value;
  if (open === undefined) return null;
  if (open.kind === "create") return <CreateKey organizations={open.organizations} />;
  if (open.kind === "rotate") return <RotateKey of={open.key} />;
  return open.kind === "expire" ? <ExpireKey of={open.key} /> : <RevokeKey of={open.key} />;
}

interface KeyFormProps {
  readonly of: Key;
}

const pathOf = ({ ref }: Key, kind: keyof typeof keyActions) => `/keys/${encodeURIComponent(ref)}/${kind}`;

function RevokeKey({ of: key }: KeyFormProps) {
  return (
    <Confirm
      title={`Revoke ${key.ref}?`}
      action="Revoke the key"
      run={() => post(pathOf(key, "revoke"))}
      instead="Cancel"
      onClose={onClose}
    >
      <p>
        The next request with <code>{key.ref}</code> gets 401. This cannot be undone.
      </p>
    </Confirm>
  );
}

const expiry: Body = { schema: formSchemas.key_expiry, fields: ["expires"] };

function ExpireKey({ of: key }: KeyFormProps) {
  const send = async (form: FormData) => {
    await post(pathOf(key, "expire"), bodyIn(expiry, form));
    onClose();
  };
  return (
    <Dialog title={`The end of ${key.ref}`} onClose={onClose}>
      <ActionForm action="Set the end" send={send}>
        {(problems) => <SchemaFields body={expiry} problems={problems} />}
      </ActionForm>
    </Dialog>
  );
}

const creation: Body = {
  schema: formSchemas.key_creation,
  fields: [
    "name",
    "organization",
    "environment",
    "scopes",
    "limits.per_minute",
    "limits.per_day",
    "expires",
    "ref",
  ],
};

function CreateKey({ organizations }: { readonly organizations: readonly string[] }) {
  return (
    <IssueKey
      title="Create a key"
      path="/keys"
      body={creation}
      action="Create the key"
      choices={{ organization: organizations }}
    />
  );
}

const rotation: Body = { schema: formSchemas.key_rotation, fields: ["overlap_minutes", "as"] };

function RotateKey({ of: key }: KeyFormProps) {
  return (
    <IssueKey
      title={`Rotate ${key.ref}`}
      path={pathOf(key, "rotate")}
      body={rotation}
      action="Rotate the key"
      before="The replacement has the same name, scopes and limits, and works immediately. The old key works until its overlap ends."
    />
  );
}

interface IssueKeyProps {
  readonly title: string;
  readonly path: string;
  readonly body: Body;
  readonly action: string;
  readonly before?: string;
  readonly choices?: Readonly<Record<string, readonly string[]>>;
}

/** A form that creates a key, then its secret, which the header copies until a reload. */
function IssueKey({ title, path, body, action, before, choices }: IssueKeyProps) {
  const issued = useIssued();
  const { leave, onCopied, question } = useUnstored(issued.value, onClose);
  const send = async (form: FormData) => {
    try {
      issued.value = await post<Shown<"IssuedKey">>(path, bodyIn(body, form));
    } catch (error) {
      const { code, message } = error as ControlError;
      if (code !== "overlap_out_of_range") throw error;
      throw new ControlError(code, message, { overlap_minutes: message });
    }
  };
  if (issued.value === undefined) {
    return (
      <Dialog title={title} onClose={onClose}>
        <ActionForm action={action} send={send}>
          {(problems) => (
            <>
              {before === undefined ? null : <p>{before}</p>}
              <SchemaFields body={body} problems={problems} choices={choices ?? {}} />
            </>
          )}
        </ActionForm>
      </Dialog>
    );
  }
  return (
    <>
      <Dialog title={`The secret of ${issued.value.key.ref}`} onClose={leave}>
        <Secret issued={issued.value} onCopied={onCopied} />
      </Dialog>
      {question}
    </>
  );
}
