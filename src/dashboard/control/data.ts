import { useLayoutEffect, useState } from "preact/hooks";
import { type ControlError, call } from "./call.js";
import type { ControlData } from "./responses.js";
import { revision } from "./revision.js";

type Path = keyof ControlData;

/** The last response to a path, and why a later one is missing. */
interface Shown<Data> {
  readonly data?: Data;
  readonly problem?: ControlError | undefined;
}

type Show = (shown: Shown<never>) => void;

interface Reading {
  shown: Shown<unknown>;
  readonly shows: Set<Show>;
  readonly stop: () => void;
}

/** Neither a response nor a problem has arrived. */
const nothing = {};

/** What somebody follows now, by path. */
const readings = new Map<string, Reading>();

/** Shows the response to a path, and again after each change of the sandbox, until the returned function is called. */
export function follow<Of extends Path>(path: Of, show: (shown: Shown<ControlData[Of]>) => void): () => void {
  const reading = readings.get(path) ?? startReading(path);
  reading.shows.add(show);
  show(reading.shown as Shown<ControlData[Of]>);
  return () => {
    reading.shows.delete(show);
    if (reading.shows.size > 0) return;
    reading.stop();
    readings.delete(path);
  };
}

function startReading(path: string): Reading {
  const shows = new Set<Show>();
  let isReading = false;
  let isStale = false;
  const read = async () => {
    isStale = true;
    if (isReading) return;
    isReading = true;
    // Something may have changed since the reading started.
    while (isStale) {
      isStale = false;
      reading.shown = await call<unknown>(path).then(
        (data) => ({ data }),
        // What is gone is no longer shown. A sandbox that does not respond still has it.
        (problem: ControlError) =>
          problem.code === "not_found" ? { problem } : { ...reading.shown, problem },
      );
      for (const show of shows) show(reading.shown as Shown<never>);
    }
    isReading = false;
  };
  // A reading before the revision is known would have to be repeated.
  const readIfKnown = () => {
    if (revision.value !== undefined) void read();
  };
  const reading: Reading = { shown: nothing, shows, stop: revision.subscribe(readIfKnown) };
  readings.set(path, reading);
  readIfKnown();
  return reading;
}

/** The response to a path, up to date while the component is shown. For a new path, the earlier one stays until it or a problem arrives. */
export function useData<Of extends Path>(path: Of | undefined): Shown<ControlData[Of]> {
  const [shown, show] = useState<Shown<ControlData[Of]>>(nothing);
  // Before the first painting, which may be late, so that the response arrives earlier.
  useLayoutEffect(() => {
    if (path === undefined) return show(nothing);
    return follow(path, (next) => {
      if (next !== nothing) show(next);
    });
  }, [path]);
  return shown;
}
