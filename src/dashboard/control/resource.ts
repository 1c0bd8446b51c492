import { type ReadonlySignal, signal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type ControlError, call, listen } from "./call.js";
import { connection } from "./events.js";

/** A response of the control plane that is kept up to date while a view shows it. */
export interface Resource<Data> {
  readonly data: ReadonlySignal<Data | undefined>;
  readonly problem: ReadonlySignal<ControlError | undefined>;
  readonly refresh: () => void;
  /** Keeps it up to date until the returned function is called. */
  readonly follow: () => () => void;
}

/** The pause between two readings while events arrive, in milliseconds. A proxy may hold events back for longer. */
const pause = 1000;

/**
 * Creates a resource that is read again immediately after a gap and after a change by this page, and soon after events
 * whose type starts with one of `on`.
 */
export function resource<Data>(
  path: string,
  options: { readonly on: readonly string[]; readonly read?: (path: string) => Promise<Data> },
): Resource<Data> {
  const { on, read: readFrom = call<Data> } = options;
  const data = signal<Data>();
  const problem = signal<ControlError>();
  let followers = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isReading = false;
  /** Whether something has changed since the current reading started: read again soon, or immediately. */
  let isStale = false;
  let isUrgent = false;
  let readAt = Number.NEGATIVE_INFINITY;
  let stopListening = () => {};

  // Without a timer, because the browser would draw first.
  const read = async () => {
    clearTimeout(timer);
    timer = undefined;
    isUrgent = isReading;
    if (isReading) return;
    isReading = true;
    do {
      isUrgent = isStale = false;
      try {
        data.value = await readFrom(path);
        problem.value = undefined;
      } catch (error) {
        problem.value = error as ControlError;
      }
    } while (isUrgent);
    readAt = performance.now();
    isReading = false;
    if (isStale) readSoon();
  };
  const readSoon = (wait = readAt + pause - performance.now()) => {
    isStale = true;
    if (followers > 0 && !isReading) timer ??= setTimeout(read, Math.max(0, wait));
  };
  const start = () => {
    stopListening = listen((events) => {
      if (events.some(({ type }) => type === "gap" || type === "own.change")) void read();
      else if (events.some(({ type }) => on.some((prefix) => type.startsWith(prefix)))) readSoon();
    });
    // A reading before the events arrive would have to be repeated.
    if (connection.peek() === "open") void read();
    else readSoon(pause);
  };
  return {
    data,
    problem,
    refresh: () => void read(),
    follow() {
      followers += 1;
      if (followers === 1) start();
      return () => {
        followers -= 1;
        if (followers > 0) return;
        stopListening();
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}

export function useResources(...resources: readonly Resource<unknown>[]): void {
  // Before the first painting, which may be late, so that the response arrives earlier.
  useLayoutEffect(() => {
    const stops = resources.map((one) => one.follow());
    return () => {
      for (const stop of stops) stop();
    };
    // A component always has the same resources.
  }, []);
}

/** A resource of one component while it is shown. Another path is another resource. */
export function useResource<Data>(
  path: string,
  on: readonly string[],
  read?: (path: string) => Promise<Data>,
): Resource<Data> {
  const one = useMemo(() => resource<Data>(path, { on, read: read ?? call<Data> }), [path]);
  useLayoutEffect(() => one.follow(), [one]);
  return one;
}

/** A resource with the last response to an earlier path until the next one arrives. */
export function usePage<Data>(...of: Parameters<typeof useResource<Data>>) {
  const { data, problem, refresh } = useResource<Data>(...of);
  const last = useRef<Data | undefined>(undefined);
  last.current = data.value ?? last.current;
  return { shown: last.current, problem: problem.value, refresh };
}
