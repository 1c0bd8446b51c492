import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { baseUrl } from "../../control/call.js";
import { lastIssued } from "../../control/issued.js";
import { useResources } from "../../control/resource.js";
import { curlLine, report } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { CopyButton } from "../../elements/copy-button.js";

/** The last key whose secret was copied. */
const copied = signal<Shown<"IssuedKey"> | undefined>(undefined);

export const noteCopied = () => {
  copied.value = lastIssued.peek();
};

// A reload forgets the secret.
addEventListener("beforeunload", (event) => {
  const last = lastIssued.peek();
  if (last !== undefined && last !== copied.peek()) event.preventDefault();
});

/** A key that a component issues, until it no longer exists because another scenario or a reset has started. */
export function useIssued() {
  const issued = useSignal<Shown<"IssuedKey"> | undefined>(undefined);
  const isKnown = lastIssued.value !== undefined;
  useEffect(() => {
    if (!isKnown) issued.value = undefined;
  }, [isKnown]);
  return issued;
}

/** The secret of a new key. */
export function Secret({ issued }: { readonly issued: Shown<"IssuedKey"> }) {
  useResources(report);
  const { key, secret } = issued;
  const curl = curlLine(baseUrl, secret);
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    lastIssued.value = issued;
    // The form with the focus is gone.
    shown.current?.focus();
  }, []);
  return (
    <div class="stack secret" ref={shown} tabIndex={-1}>
      <p>
        <strong>Copy it now: it is shown only once.</strong> Like the service, the sandbox stores only a hash.
        A lost secret cannot be recovered. Until a reload, the top of this page copies it.
      </p>
      <p>
        <code class="code secret-text">{secret}</code>
      </p>
      <p class="bar">
        <CopyButton text={secret} onCopied={noteCopied}>
          Copy the secret
        </CopyButton>
        {curl === undefined ? null : (
          <CopyButton text={curl} onCopied={noteCopied}>
            Copy as curl
          </CopyButton>
        )}
        <span class="muted">
          Fingerprint <code>{key.fingerprint}</code>
        </span>
      </p>
    </div>
  );
}
