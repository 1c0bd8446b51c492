import { effect, signal, untracked } from "@preact/signals";
import { type ControlError, call } from "./call.js";
import type { IssuedKey, Key } from "./responses.js";
import { revision } from "./revision.js";

/** The key that this page created last, to copy from the header. A reload forgets it, and so does another scenario. */
export const lastIssued = signal<IssuedKey | undefined>(undefined);

effect(() => {
  if (revision.value !== undefined) void untracked(forgetReplaced);
});

// The sandbox may have started again.
async function forgetReplaced(): Promise<void> {
  const { key } = lastIssued.peek() ?? {};
  if (key === undefined) return;
  const path = `/keys/${encodeURIComponent(key.ref)}`;
  const now = await call<Key | undefined>(path).catch(({ code }: ControlError) =>
    code === "not_found" ? undefined : key,
  );
  if (now?.fingerprint !== key.fingerprint && lastIssued.peek()?.key === key) lastIssued.value = undefined;
}
