import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { IssuedKey } from "../../control/answers.js";
import { baseUrl, call } from "../../control/call.js";
import { Refusal } from "../../elements/action.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Confirm, Dialog } from "../../elements/dialog.js";
import { useForm } from "../../elements/form.js";
import { actor } from "./actor.js";

interface IssueKeyProps {
  readonly title: string;
  readonly path: string;
  readonly bodyOf: (form: FormData) => unknown;
  readonly action: string;
  readonly onClose: () => void;
  /** The fields, given what was wrong with them by their names. */
  readonly children: (problems: Readonly<Record<string, string>>) => ComponentChildren;
}

/** A form that makes a key, and then its secret: held by the open dialog and nothing else. */
export function IssueKey({ title, path, bodyOf, action: words, onClose, children }: IssueKeyProps) {
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
            // Below an open dialog nothing can get the focus back.
            run={async () => void setTimeout(onClose)}
            instead="Show it again"
            onClose={leave(false)}
          >
            <p>It is never shown again after you close this dialog.</p>
          </Confirm>
        ) : null}
      </>
    );
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={action.form}
        class="key-form"
        // The refusals of the service are part of what is shown.
        noValidate
        onSubmit={action.submit}
      >
        {children(action.problem?.fields ?? {})}
        <Refusal problem={action.problem} />
        <footer>
          <button type="submit" aria-busy={action.isRunning}>
            {words}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function Secret({ issued: { key, secret } }: { readonly issued: IssuedKey }) {
  const shown = useRef<HTMLDivElement>(null);
  // The form that had the focus is gone.
  useEffect(() => shown.current?.focus(), []);
  return (
    <div class="secret" ref={shown} tabIndex={-1}>
      <p>
        <strong>Copy it now: it is shown once.</strong> The sandbox keeps a hash of it, as the service does; a
        lost secret cannot be recovered.
      </p>
      <p>
        <code class="secret-text">{secret}</code>
      </p>
      <p class="buttons">
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
