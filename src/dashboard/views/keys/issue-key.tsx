import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { IssuedKey } from "../../control/answers.js";
import { baseUrl, call } from "../../control/call.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Refusal } from "../../elements/forms/action.js";
import { Confirm, Dialog } from "../../elements/forms/dialog.js";
import { useForm } from "../../elements/forms/form.js";
import { actor } from "./actor.js";

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
        class="key-form"
        // The page shows the service's own validation messages.
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
  // The form with the focus is gone.
  useEffect(() => shown.current?.focus(), []);
  return (
    <div class="secret" ref={shown} tabIndex={-1}>
      <p>
        <strong>Copy it now: it is shown only once.</strong> Like the service, the sandbox stores only a hash.
        A lost secret cannot be recovered.
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
