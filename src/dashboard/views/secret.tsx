import { useEffect, useRef, useState } from "preact/hooks";
import { baseUrl, call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { IssuedKey, Key } from "../control/responses.js";
import { CopyButton } from "../elements/copy.js";

/** The keys that this page has created, by fingerprint, with their secrets, to copy. A reload discards them. */
const secrets = new Map<string, string>();

/** A key that a component issues, until it no longer exists: another scenario or a reset may have started. */
export function useIssued() {
  const state = useState<IssuedKey>();
  const [issued, setIssued] = state;
  const { data, problem } = useData(issued && `/keys/${encodeURIComponent(issued.key.ref)}`);

  // Another key may have its ref.
  const isOther = data && data.fingerprint !== issued?.key.fingerprint;
  const isGone = isOther || problem?.code === "not_found";
  useEffect(() => {
    if (isGone) setIssued(undefined);
  }, [isGone]);
  return state;
}

/** A request to the first endpoint, for a shell. */
export function useCurlLine(secret?: string): string {
  const path = useData("/report?story=true").data?.endpoints[0]?.path ?? "";
  const header = secret === undefined ? "" : `-H "x-api-key: ${secret}" `;
  return `curl -i ${header}${baseUrl}${path}`;
}

/** The secret of a new key. */
export function Secret({ issued }: Readonly<{ issued: IssuedKey }>) {
  const { key, secret } = issued;
  const line = useCurlLine(secret);
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    secrets.set(key.fingerprint, secret);
    // The form with the focus is gone.
    shown.current?.focus();
  }, []);
  return (
    <div class="stack secret" ref={shown} tabIndex={-1}>
      <p>
        <strong>Copy it now: it is shown only once.</strong> Until you reload this page, its row copies it.
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

/** Copies a command of the sandbox, with the key and the URL in it: a new shell has no variables. */
export function CopyCurl({ keyRef, curl }: Readonly<{ keyRef: string; curl: string }>) {
  const text = async () => {
    const secret = keyRef === "none" ? "" : await secretOf(keyRef);
    return curl.replace(/\$SVC_KEY_\w+/, () => secret).replace("$SVC_BASE_URL", () => baseUrl);
  };
  return <CopyButton text={text}>Copy as curl</CopyButton>;
}

/** Copies a key. One that the seed did not make is known only to whoever created it or wrote the scenario. */
export function CopyKey({ of: ref }: Readonly<{ of: string }>) {
  return (
    <CopyButton class="quiet small" text={() => secretOf(ref)}>
      Copy<span class="visually-hidden"> of {ref}</span>
    </CopyButton>
  );
}

async function secretOf(ref: string): Promise<string> {
  const path = `/keys/${encodeURIComponent(ref)}`;
  if (secrets.size > 0) {
    const key = await call<Key>(path);
    const created = secrets.get(key.fingerprint);
    if (created) return created;
  }
  const computed = await call<{ readonly secret: string }>(`${path}/secret`, { method: "POST" });
  return computed.secret;
}
