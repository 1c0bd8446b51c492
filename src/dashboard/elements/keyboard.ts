import { useLayoutEffect, useRef } from "preact/hooks";

/** Calls the latest listener with each key press without Ctrl, Cmd or Alt while the component is shown. */
export function useKeyboard(listener: (event: KeyboardEvent) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) latest.current(event);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
