import { useEffect, useRef, useState } from "preact/hooks";
import { baseUrl, call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { IssuedKey } from "../control/responses.js";
import { Shared, useShared } from "../control/shared.js";
import { CopyButton } from "../elements/copy.js";

/** The key that this page created last, to copy from the header. A reload discards it, and so does another scenario. */
export const lastIssued = new Shared<IssuedKey | undefined>(undefined);

/** The last issued key while it exists: another scenario or a reset may have started. */
export function useLastIssued(): IssuedKey | undefined {
  const issued = useShared(lastIssued);
  const { data, problem } = useData(issued && `/keys/${encodeURIComponent(issued.key.ref)}`);
  const isReplaced = data?.ref === issued?.key.ref && data?.fingerprint !== issued?.key.fingerprint;
  const isGone = problem?.code === "not_found" || isReplaced;
  useEffect(() => {
    if (isGone) lastIssued.value = undefined;
  }, [isGone]);
  return issued;
}

/** A key that a component issues, until it no longer exists. */
export function useIssued() {
  const state = useState<IssuedKey | undefined>(undefined);
  const [, setIssued] = state;
  const isListed = useShared(lastIssued) !== undefined;
  useEffect(() => {
    if (!isListed) setIssued(undefined);
  }, [isListed]);
  return state;
}

/** A request to the first endpoint, for a shell. */
export function useCurlLine(secret?: string): string {
  const path = useData("/report?story=true").data?.endpoints[0]?.path ?? "";
  return `curl -i ${secret === undefined ? "" : `-H "x-api-key: ${secret}" `}${baseUrl}${path}`;
}

/** The secret of a new key. */
export function Secret({ issued }: Readonly<{ issued: IssuedKey }>) {
  const { key, secret } = issued;
  const line = useCurlLine(secret);
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    lastIssued.value = issued;
    // The form with the focus is gone.
    shown.current?.focus();
  }, []);
  return (
    <div class="stack secret" ref={shown} tabIndex={-1}>
      <p>
        <strong>Copy it now: it is shown only once.</strong> The sandbox stores only its hash. Until you
        reload this page, its header also copies the key.
      </p>
      <code class="code">{secret}</code>
      <div class="bar">
        <CopyButton text={secret}>Copy the secret</CopyButton>
        <CopyButton text={line}>Copy as curl</CopyButton>
        <span class="muted">
          Fingerprint <code>{key.fingerprint}</code>
        </span>
      </div>
    </div>
  );
}

/** Copies a line for a shell, with the key in it: a new shell has no variables. */
export function CopyCurl({ keyRef, line }: Readonly<{ keyRef: string; line: (secret: string) => string }>) {
  const text = async () => line(keyRef === "none" ? "" : await secretOf(keyRef));
  return <CopyButton text={text}>Copy as curl</CopyButton>;
}

async function secretOf(ref: string): Promise<string> {
  const issued = lastIssued.value;
  if (issued?.key.ref === ref) return issued.secret;
  const path = `/keys/${encodeURIComponent(ref)}/secret`;
  return (await call<{ readonly secret: string }>(path, { method: "POST" })).secret;
}
