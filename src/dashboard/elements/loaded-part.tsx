import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "../control/call.js";
import { connection } from "../control/events.js";

const loaded = new WeakMap<() => Promise<ComponentType>, ComponentType>();

/**
 * A component that is loaded when it is shown. If that fails, it shows a message and a button to try again.
 *
 * `load` must always be the same function.
 */
export function LoadedPart(props: { readonly load: () => Promise<ComponentType>; readonly name: string }) {
  const { load, name } = props;
  const state = useSignal<"loading" | "failed" | "loaded">(loaded.has(load) ? "loaded" : "loading");
  const start = async () => {
    state.value = "loading";
    try {
      loaded.set(load, await load());
      state.value = "loaded";
    } catch {
      state.value = "failed";
    }
  };
  const tryAgain = async () => {
    await start();
    // Some browsers remember the failure, and another version of the sandbox has other files, so the page reloads.
    if (state.value === "failed" && (await call("/clock").catch(() => undefined))) location.reload();
  };
  const isOpen = connection.value === "open";
  useEffect(() => {
    if (state.peek() === "loading") void start();
    // The sandbox is back.
    else if (state.peek() === "failed" && isOpen) void tryAgain();
  }, [isOpen]);
  const Part = loaded.get(load);
  if (state.value === "loaded" && Part !== undefined) return <Part />;
  if (state.value === "loading") return <p class="muted">Loading {name}…</p>;
  return (
    <div class="notice warning" role="alert">
      <p>Failed to load {name}. Is the sandbox still running?</p>
      <button type="button" class="quiet" onClick={tryAgain}>
        Try again
      </button>
    </div>
  );
}
