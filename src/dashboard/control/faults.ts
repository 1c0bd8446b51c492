import { call } from "./call.js";
import type { ShownFault } from "./responses.js";

/** Replaces the active faults with the result of a function. Another page may have changed them in between. */
export async function replaceFaults(
  next: (active: readonly ShownFault[]) => readonly ShownFault[],
): Promise<void> {
  const active = await call<readonly ShownFault[]>("/faults");
  // The number of its requests is no setting.
  const faults = next(active).map(({ when, then }) => ({ ...(when && { when }), then }));
  await call("/faults", { method: "PUT", body: { faults } });
}

const textOf = ({ when, then }: ShownFault) => JSON.stringify([when, then]);

/** Turns off one fault, or all of them. */
export function turnOff(fault?: ShownFault): Promise<void> {
  return replaceFaults((active) => {
    const index = active.findIndex((other) => fault !== undefined && textOf(other) === textOf(fault));
    return fault === undefined ? [] : active.filter((_, at) => at !== index);
  });
}
