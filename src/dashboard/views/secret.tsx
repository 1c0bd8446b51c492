import { useEffect, useRef } from "preact/hooks";
import { baseUrl, call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { IssuedKey } from "../control/responses.js";
import { CopyButton } from "../elements/copy.js";

/** The secrets of the keys that this page has created, by fingerprint. A reload discards them. */
const secrets = new Map<string, string>();

/** A line for a shell that sends a request to the first endpoint. */
export function useCurlLine(secret?: string): string {
  const path = useData("/report?story=true").data?.endpoints[0]?.path ?? "";
  let header = "";
  if (secret !== undefined) header = `-H "x-api-key: ${secret}" `;
  return `curl -i ${header}${baseUrl}${path}`;
}

/** The secret of a new key, with buttons that copy it. It gets the focus. */
export function Secret({ issued }: Readonly<{ issued: IssuedKey }>) {
  const { key, secret } = issued;
  const line = useCurlLine(secret);
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    secrets.set(key.fingerprint, secret);
    // The form with the focus is gone.
    panel.current?.focus();
  }, []);
  return (
    <div class="stack secret" ref={panel} tabIndex={-1}>
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
    const secret = keyRef === "none" ? "" : await findSecret(keyRef);
    return curl.replace(/\$SVC_KEY_\w+/, () => secret).replace("$SVC_BASE_URL", () => baseUrl);
  };
  return <CopyButton text={text}>Copy as curl</CopyButton>;
}

/** Copies a key. It fails for one that the seed did not make: only who created it or wrote the scenario knows it. */
export function CopyKey({ keyRef }: Readonly<{ keyRef: string }>) {
  return (
    <CopyButton class="quiet small" text={() => findSecret(keyRef)}>
      Copy<span class="visually-hidden"> of {keyRef}</span>
    </CopyButton>
  );
}

/** The secret of a key: this page has created it, or the sandbox makes it from the seed again. */
async function findSecret(ref: string): Promise<string> {
  const path = `/keys/${encodeURIComponent(ref)}`;
  if (secrets.size > 0) {
    const key = await call<IssuedKey["key"]>(path);
    const created = secrets.get(key.fingerprint);
    if (created) return created;
  }
  const computed = await call<{ readonly secret: string }>(`${path}/secret`, { method: "POST" });
  return computed.secret;
}
