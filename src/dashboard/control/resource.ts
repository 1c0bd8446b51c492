import { effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type ControlError, call } from "./call.js";
import { revision } from "./revision.js";

/** A response of the control plane that is kept up to date while a view shows it. */
export interface Resource<Data> {
  readonly data: ReadonlySignal<Data | undefined>;
  readonly problem: ReadonlySignal<ControlError | undefined>;
  /** Keeps it up to date until the returned function is called. */
  readonly follow: () => () => void;
}

/** Creates a resource that is read when it is first followed, and again when the sandbox's revision differs. */
export function resource<Data>(
  path: string,
  readFrom: (path: string) => Promise<Data> = call<Data>,
): Resource<Data> {
  const data = signal<Data>();
  const problem = signal<ControlError>();
  let followers = 0;
  let isReading = false;
  let isStale = false;
  let stop = () => {};

  const read = async () => {
    isStale = true;
    if (isReading) return;
    isReading = true;
    // Something may have changed since the reading started.
    while (isStale) {
      isStale = false;
      try {
        data.value = await readFrom(path);
        problem.value = undefined;
      } catch (error) {
        problem.value = error as ControlError;
      }
    }
    isReading = false;
  };
  // A reading before the revision is known would have to be repeated.
  const start = () =>
    effect(() => {
      if (revision.value !== undefined) void untracked(read);
    });
  return {
    data,
    problem,
    follow() {
      followers += 1;
      if (followers === 1) stop = start();
      return () => {
        followers -= 1;
        if (followers === 0) stop();
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
  path: string | undefined,
  read?: (path: string) => Promise<Data>,
): Resource<Data> {
  const one = useMemo(() => resource<Data>(path ?? "", read), [path]);
  // Without a path, there is nothing to read.
  useLayoutEffect(() => (path === undefined ? undefined : one.follow()), [one]);
  return one;
}

/** A resource with the last response to an earlier path until the next one arrives. */
export function usePage<Data>(...of: Parameters<typeof useResource<Data>>) {
  const { data, problem } = useResource<Data>(...of);
  const last = useRef<Data | undefined>(undefined);
  last.current = data.value ?? last.current;
  return { shown: last.current, problem: problem.value };
}
