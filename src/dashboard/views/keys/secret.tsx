import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { baseUrl, lastIssued } from "../../control/call.js";
import { useResources } from "../../control/resource.js";
import { curlLine, report } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { CopyButton } from "../../elements/copy-button.js";
import { Confirm } from "../../elements/forms/dialog.js";
import { linkTo, route } from "../../route.js";

/**
 * Keeps the page at its address until the returned function is called: Back calls `ask` instead of leaving, and the browser
 * asks before a reload.
 */
function keepAddress(ask: () => void): () => void {
  const stay = () => {
    // Back has already changed the browser's address, but not yet the route.
    const { view, parts, query } = route.peek();
    history.pushState("kept", "", linkTo(view, parts, Object.fromEntries(query)));
  };
  const back = () => {
    if (history.state === "kept") return;
    stay();
    ask();
  };
  const reload = (event: Event) => event.preventDefault();
  stay();
  addEventListener("popstate", back);
  addEventListener("beforeunload", reload);
  return () => {
    removeEventListener("popstate", back);
    removeEventListener("beforeunload", reload);
    if (history.state === "kept") history.back();
  };
}

/** A key that a component issues, until it no longer exists because another scenario or a reset has started. */
export function useIssued() {
  const issued = useSignal<Shown<"IssuedKey"> | undefined>(undefined);
  const isKnown = lastIssued.value !== undefined;
  useEffect(() => {
    if (!isKnown) issued.value = undefined;
  }, [isKnown]);
  return issued;
}

/** Asks before a secret that is not stored is lost: by `leave`, Back or a reload. */
export function useUnstored(issued: Shown<"IssuedKey"> | undefined, onClose: () => void) {
  const isStored = useSignal(false);
  const isLeaving = useSignal(false);
  const asks = (does: boolean) => () => {
    isLeaving.value = does;
  };
  const isAtRisk = issued !== undefined && !isStored.value;
  // With the drawing: Back can be pressed as soon as the secret is visible.
  useLayoutEffect(() => (isAtRisk ? keepAddress(asks(true)) : undefined), [isAtRisk]);
  const onCopied = () => {
    isStored.value = true;
  };
  const question = isLeaving.value ? (
    <Confirm
      title="Did you store the secret?"
      action="I stored it"
      class=""
      run={async () => {
        onCopied();
        // The dialog must close first: below it, no element can receive the focus.
        setTimeout(onClose);
      }}
      instead="Show it again"
      onClose={asks(false)}
    >
      <p>You cannot see it again. Until a reload, the top of this page copies it.</p>
    </Confirm>
  ) : null;
  return { leave: isAtRisk ? asks(true) : onClose, onCopied, question };
}

interface SecretProps {
  readonly issued: Shown<"IssuedKey">;
  readonly onCopied: () => void;
}

export function Secret({ issued, onCopied }: SecretProps) {
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
        A lost secret cannot be recovered.
      </p>
      <p>
        <code class="secret-text">{secret}</code>
      </p>
      <p class="bar">
        <CopyButton text={secret} onCopied={onCopied}>
          Copy the secret
        </CopyButton>
        {curl ? (
          <CopyButton text={curl} onCopied={onCopied}>
            Copy as curl
          </CopyButton>
        ) : null}
        <span class="muted">
          Fingerprint <code>{key.fingerprint}</code>
        </span>
      </p>
    </div>
  );
}
