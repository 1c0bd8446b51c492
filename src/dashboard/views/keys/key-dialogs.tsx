import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { IssuedKey, Key } from "../../control/answers.js";
import { baseUrl, call } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { assumptions } from "../../control/resources.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Confirm, Dialog } from "../../elements/forms/dialog.js";
import { Field } from "../../elements/forms/field.js";
import { FormRefusal, numberIn, textIn, useForm } from "../../elements/forms/form.js";
import { actor } from "./actor.js";

/** The open dialog: an action, and the key or organization that it affects. */
export type Doing =
  | { readonly kind: "create"; readonly organization: string }
  | { readonly kind: "rotate" | "revoke"; readonly key: Key };

interface DialogProps {
  readonly doing: Doing;
  readonly onClose: () => void;
}

/** The dialog for an action with keys. */
export function KeyDialog({ doing, onClose }: DialogProps) {
  if (doing.kind === "create") return <CreateKey organization={doing.organization} onClose={onClose} />;
  return doing.kind === "rotate" ? (
    <RotateKey old={doing.key} onClose={onClose} />
  ) : (
    <RevokeKey revoked={doing.key} onClose={onClose} />
  );
}

const limits = [
  ["minute", "60"],
  ["day", "1000"],
] as const;

function CreateKey({
  organization,
  onClose,
}: {
  readonly organization: string;
  readonly onClose: () => void;
}) {
  useResources(assumptions);
  const { scopes: known = [], default_expiry: lifetime = "none" } = assumptions.data.value ?? {};
  return (
    <IssueKey
      title={`Create a key for ${organization}`}
      path="/keys"
      bodyOf={(form) => ({
        organization,
        environment: form.get("environment"),
        name: form.get("name"),
        scopes: form.getAll("scopes"),
        limits: { per_minute: numberIn(form, "per_minute"), per_day: numberIn(form, "per_day") },
        expires: textIn(form, "expires"),
        ref: textIn(form, "ref"),
      })}
      action="Create the key"
      onClose={onClose}
    >
      {(problems) => (
        <>
          <Field
            label="Name"
            hint="The system that uses the key, such as “Core banking”."
            problem={problems.name}
          >
            {(attributes) => <input name="name" autocomplete="off" required {...attributes} />}
          </Field>
          <fieldset class="bar choices">
            <legend>Environment</legend>
            {(["test", "live"] as const).map((environment) => (
              <label key={environment}>
                <input
                  type="radio"
                  name="environment"
                  value={environment}
                  defaultChecked={environment === "test"}
                />{" "}
                {environment}
              </label>
            ))}
          </fieldset>
          <fieldset class="bar choices">
            <legend>Scopes</legend>
            {known.map((scope) => (
              <label key={scope}>
                <input
                  type="checkbox"
                  name="scopes"
                  value={scope}
                  defaultChecked={scope === "attestations:read"}
                />{" "}
                <code>{scope}</code>
              </label>
            ))}
          </fieldset>
          <div class="form-fields">
            {limits.map(([window, usual]) => (
              <Field
                key={window}
                label={`Requests per ${window}`}
                hint="A whole number; 0 allows no requests."
                problem={problems[`limits.per_${window}`]}
              >
                {(attributes) => (
                  <input name={`per_${window}`} inputMode="numeric" defaultValue={usual} {...attributes} />
                )}
              </Field>
            ))}
          </div>
          <div class="form-fields">
            <Field
              label="Expires"
              hint={`Such as 30d or 2026-03-02T09:00:00Z. Default: ${lifetime === "none" ? "never" : `after ${lifetime}`}.`}
              problem={problems.expires}
            >
              {(attributes) => <input name="expires" autocomplete="off" {...attributes} />}
            </Field>
            <Field
              label="Ref"
              hint="A short name for scenarios. Default: derived from the name."
              problem={problems.ref}
            >
              {(attributes) => <input name="ref" autocomplete="off" {...attributes} />}
            </Field>
          </div>
        </>
      )}
    </IssueKey>
  );
}

// In minutes, with labels. The last one is the maximum of the service (R39).
const overlaps = [
  [0, "0: the old key stops working immediately"],
  [15, "15 minutes"],
  [60, "60 minutes, the service's default"],
  [24 * 60, "1 day"],
  [7 * 24 * 60, "7 days, the maximum"],
] as const;

function RotateKey({ old, onClose }: { readonly old: Key; readonly onClose: () => void }) {
  const isOther = useSignal(false);
  return (
    <IssueKey
      title={`Rotate ${old.ref}`}
      path={`/keys/${encodeURIComponent(old.ref)}/rotate`}
      bodyOf={(form) => ({
        overlap_minutes: numberIn(form, isOther.value ? "minutes" : "overlap"),
        as: textIn(form, "as"),
      })}
      action="Rotate the key"
      onClose={onClose}
    >
      {(problems) => (
        <>
          <p>
            The replacement has the same name, scopes and limits, and works immediately. The old key works
            until its overlap ends.
          </p>
          <Field label="Overlap" problem={isOther.value ? undefined : problems.overlap_minutes}>
            {(attributes) => (
              <select
                name="overlap"
                onChange={(event) => {
                  isOther.value = event.currentTarget.value === "other";
                }}
                {...attributes}
              >
                {overlaps.map(([minutes, words]) => (
                  <option key={minutes} value={minutes} selected={minutes === 60}>
                    {words}
                  </option>
                ))}
                <option value="other">Other…</option>
              </select>
            )}
          </Field>
          {isOther.value ? (
            <Field label="Overlap in minutes" hint="0 to 10080 (7 days)." problem={problems.overlap_minutes}>
              {(attributes) => <input name="minutes" inputMode="decimal" {...attributes} />}
            </Field>
          ) : null}
          <Field
            label="Ref of the replacement"
            hint="Default: the old ref with the next free number."
            problem={problems.as}
          >
            {(attributes) => <input name="as" autocomplete="off" {...attributes} />}
          </Field>
        </>
      )}
    </IssueKey>
  );
}

function RevokeKey({ revoked, onClose }: { readonly revoked: Key; readonly onClose: () => void }) {
  const path = `/keys/${encodeURIComponent(revoked.ref)}/revoke`;
  return (
    <Confirm
      title={`Revoke ${revoked.ref}?`}
      action="Revoke the key"
      run={() => call(path, { method: "POST", actor: actor.value })}
      instead="Keep it"
      onClose={onClose}
    >
      <p>
        The next request with <code>{revoked.ref}</code> gets 401. This cannot be undone.
      </p>
    </Confirm>
  );
}

interface IssueKeyProps {
  readonly title: string;
  readonly path: string;
  readonly bodyOf: (form: FormData) => unknown;
  readonly action: string;
  readonly onClose: () => void;
  /** The fields. Each problem has the name of its field. */
  readonly children: (problems: Readonly<Record<string, string>>) => ComponentChildren;
}

/** A form that creates a key, then its secret. Only the open dialog keeps the secret. */
function IssueKey({ title, path, bodyOf, action: words, onClose, children }: IssueKeyProps) {
  const issued = useSignal<IssuedKey | undefined>(undefined);
  const isLeaving = useSignal(false);
  const leave = (leaves: boolean) => () => {
    isLeaving.value = leaves;
  };
  const action = useForm(async (fields) => {
    const body = bodyOf(fields);
    issued.value = await call<IssuedKey>(path, { method: "POST", body, actor: actor.value });
  });
  if (issued.value !== undefined) {
    return (
      <>
        <Dialog title={`The secret of ${issued.value.key.ref}`} onClose={leave(true)}>
          <Secret issued={issued.value} />
        </Dialog>
        {isLeaving.value ? (
          <Confirm
            title="Did you store the secret?"
            action="Discard the secret"
            // The dialog must close first: below it, no element can receive the focus.
            run={async () => void setTimeout(onClose)}
            instead="Show it again"
            onClose={leave(false)}
          >
            <p>You cannot see it again after you close this dialog.</p>
          </Confirm>
        ) : null}
      </>
    );
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={action.form}
        class="stack"
        // The page shows the service's own validation messages.
        noValidate
        onSubmit={action.submit}
      >
        {children(action.problem?.fields ?? {})}
        <FormRefusal form={action.form} problem={action.problem} />
        <footer>
          <button type="submit" aria-busy={action.isRunning}>
            {words}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The secret of a new key. */
export function Secret({ issued: { key, secret } }: { readonly issued: IssuedKey }) {
  const shown = useRef<HTMLDivElement>(null);
  // The form with the focus is gone.
  useEffect(() => shown.current?.focus(), []);
  return (
    <div class="stack secret" ref={shown} tabIndex={-1}>
      <p>
        <strong>Copy it now: it is shown only once.</strong> Like the service, the sandbox stores only a hash.
        A lost secret cannot be recovered.
      </p>
      <p>
        <code class="secret-text">{secret}</code>
      </p>
      <p class="bar">
        <CopyButton text={secret}>Copy the secret</CopyButton>
        <CopyButton text={`curl -i -H "x-api-key: ${secret}" ${baseUrl}/v1/relying-party/me`}>
          Copy as curl
        </CopyButton>
      </p>
      <p class="muted">
        Fingerprint <code>{key.fingerprint}</code>
      </p>
    </div>
  );
}
