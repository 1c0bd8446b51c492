import { useEffect, useRef } from "preact/hooks";
import type { Shown } from "../../control/responses.js";
import { Until } from "../../elements/instant.js";
import { firstEndOf, hasEnded } from "../../elements/key-state.js";
import { toneOf } from "../../elements/traffic/path-badge.js";
import { doing } from "./key-dialogs.js";

type Key = Shown<"ListedKey">;

/** The buttons of what can be done with a key (R42). On its own page there are more. */
export function KeyActions({ of: key, isOnPage = false }: { readonly of: Key; readonly isOnPage?: boolean }) {
  const { ref, state } = key;
  const last = useRef<HTMLButtonElement>(null);
  const box = useRef<Element | null>(null);
  const hasActed = useRef(false);
  const isOpen = doing.value !== undefined && doing.value.kind !== "create" && doing.value.ref === ref;
  useEffect(() => {
    box.current = last.current?.closest("tr, section") ?? box.current;
    hasActed.current ||= isOpen;
    if (!hasActed.current || isOpen || document.activeElement !== document.body) return;
    // The button that had the focus is gone.
    box.current?.querySelector<HTMLElement>("h2, a")?.focus();
  }, [isOpen, state]);
  const button = (kind: "rotate" | "expire" | "revoke", words: string) => (
    <button
      ref={last}
      type="button"
      class={`${kind === "revoke" ? "danger" : "quiet"} action-${kind}`}
      onClick={() => {
        doing.value = { kind, ref };
      }}
    >
      {words}
      <span class="visually-hidden"> {ref}</span>
    </button>
  );
  if (hasEnded(key)) return null;
  return (
    <>
      {state === "active" ? button("rotate", "Rotate") : null}
      {isOnPage ? button("expire", "Ends in…") : null}
      {button("revoke", "Revoke")}
    </>
  );
}

/** What the next request with a key gets. For a key that ended, with the time since then, which is shorter than the time itself. */
export function KeyVerdict({ of: key }: { readonly of: Key }) {
  const { status, verdict, path_id: pathId } = key.next_request;
  const end = firstEndOf(key);
  return (
    <strong class={`key-verdict toned tone-${toneOf(pathId)}`} title={verdict}>
      {status !== 401 || !hasEnded(key) || end === null ? (
        verdict
      ) : (
        <>
          {status} · {key.state} <Until at={end} hasHappened />
        </>
      )}
    </strong>
  );
}
