import { signal } from "@preact/signals";
import { call } from "./call.js";
import type { Shown } from "./responses.js";

type Fault = Shown<"Fault">;

/** The faults that this page has turned off, until a reload. The sandbox knows only active ones. */
export const turnedOff = signal<readonly Fault[]>([]);

/** Replaces the active faults with the result of a function. Another page may have changed them in between. */
export async function replaceFaults(next: (on: readonly Fault[]) => readonly unknown[]): Promise<void> {
  const on = await call<readonly Fault[]>("/faults");
  await call("/faults", { method: "PUT", body: { faults: next(on) } });
}

// The number of its requests changes.
const isSame = (one: Fault, other: Fault) =>
  JSON.stringify([one.when, one.then]) === JSON.stringify([other.when, other.then]);

/** Turns off one fault, or all of them. */
export async function turnOff(fault?: Fault): Promise<void> {
  let off: readonly Fault[] = [];
  await replaceFaults((on) => {
    const first = on.find((one) => fault !== undefined && isSame(one, fault));
    off = fault === undefined ? on : on.filter((one) => one === first);
    return on.filter((one) => !off.includes(one));
  });
  turnedOff.value = [...turnedOff.peek(), ...off];
}

export async function turnOnAgain(): Promise<void> {
  const off = turnedOff.peek();
  await replaceFaults((on) => [...on, ...off]);
  turnedOff.value = [];
}
