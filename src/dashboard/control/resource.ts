import { type ReadonlySignal, signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { type ControlError, call } from "./call.js";
import { connection, listen } from "./events.js";

/** A response of the control plane that is kept up to date while a view shows it. */
export interface Resource<Answer> {
  /** The last response; `undefined` before the first one. */
  readonly data: ReadonlySignal<Answer | undefined>;
  /** Why the last reading failed. */
  readonly problem: ReadonlySignal<ControlError | undefined>;
  /** Reads it again, soon. */
  readonly refresh: () => void;
  /** Keeps it up to date until the returned function is called. */
  readonly follow: () => () => void;
}

/** The minimum time between two readings, in milliseconds. */
const shortestPause = 250;
/** The maximum wait for the events before the first reading, in milliseconds. A proxy may hold the events back. */
const longestWait = 1000;

/**
 * Creates a resource that is read again after a gap, and after events whose type starts with one of `on`.
 *
 * Its readings take at most a twentieth of the time, because the sandbox serves its clients first.
 */
export function resource<Answer>(
  path: string,
  options: { readonly on: readonly string[]; readonly read?: (path: string) => Promise<Answer> },
): Resource<Answer> {
  const { on, read: readFrom = call<Answer> } = options;
  const data = signal<Answer>();
  const problem = signal<ControlError>();
  let followers = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isReading = false;
  let isStale = false;
  let pause = shortestPause;
  let readAt = Number.NEGATIVE_INFINITY;
  let stopListening = () => {};

  const read = async () => {
    timer = undefined;
    isReading = true;
    isStale = false;
    const start = performance.now();
    try {
      data.value = await readFrom(path);
      problem.value = undefined;
    } catch (error) {
      problem.value = error as ControlError;
    }
    readAt = performance.now();
    pause = Math.max(shortestPause, 20 * (readAt - start));
    isReading = false;
    if (isStale) schedule();
  };
  const schedule = (wait = Math.max(0, readAt + pause - performance.now())) => {
    isStale = true;
    if (followers > 0 && !isReading) timer ??= setTimeout(read, wait);
  };
  // With a timer, the browser would draw first.
  const readNow = () => {
    isStale = true;
    if (isReading) return;
    clearTimeout(timer);
    void read();
  };
  const start = () => {
    stopListening = listen((events) => {
      if (events.some(({ type }) => type === "gap")) readNow();
      else if (events.some(({ type }) => on.some((prefix) => type.startsWith(prefix)))) schedule();
    });
    // A reading before the events arrive would have to be repeated.
    if (connection.peek() === "open") readNow();
    else schedule(longestWait);
  };
  return {
    data,
    problem,
    refresh: () => schedule(0),
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

/** Keeps resources up to date while a component is shown. */
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
export function useResource<Answer>(path: string, on: readonly string[]): Resource<Answer> {
  const one = useMemo(() => resource<Answer>(path, { on }), [path]);
  useLayoutEffect(() => one.follow(), [one]);
  return one;
}
