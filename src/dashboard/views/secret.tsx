import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { baseUrl } from "../control/call.js";
import { lastIssued } from "../control/issued.js";
import { useResources } from "../control/resource.js";
import { curlLine, report } from "../control/resources.js";
import type { IssuedKey } from "../control/responses.js";
import { CopyButton } from "../elements/copy.js";

/** A key that a component issues, until it no longer exists because another scenario or a reset has started. */
export function useIssued() {
  const issued = useSignal<IssuedKey | undefined>(undefined);
  const isListed = lastIssued.value !== undefined;
  useEffect(() => {
    if (!isListed) issued.value = undefined;
  }, [isListed]);
  return issued;
}

/** The secret of a new key. */
export function Secret({ issued }: Readonly<{ issued: IssuedKey }>) {
  useResources(report);
  const { key, secret } = issued;
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    lastIssued.value = issued;
    // The form with the focus is gone.
    shown.current?.focus();
  }, []);
  return (
    <div class="stack secret" ref={shown} tabIndex={-1}>
      <p>
        <strong>Copy it now: it is shown only once.</strong> The sandbox stores only its hash, as the service
        does. Until you reload this page, its header also copies the key.
      </p>
      <code class="code secret-text">{secret}</code>
      <div class="bar">
        <CopyButton text={secret}>Copy the secret</CopyButton>
        <CopyButton text={curlLine(baseUrl, secret) ?? secret}>Copy as curl</CopyButton>
        <span class="muted">
          Fingerprint <code>{key.fingerprint}</code>
        </span>
      </div>
    </div>
  );
}
