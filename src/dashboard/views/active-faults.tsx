import { useEffect } from "preact/hooks";
import { call } from "../control/call.js";
import { useData } from "../control/data.js";
import type { ShownFault } from "../control/responses.js";
import { linkTo } from "../control/route.js";
import { Shared, useShared } from "../control/shared.js";
import { Button } from "../elements/action.js";
import { counted } from "../elements/text.js";
import { useScenarioName } from "./scenario.js";

type Faults = readonly ShownFault[];

/** What a fault matches and does, as a text. The number of requests that it has matched is not part of it. */
export const faultText = ({ when, then }: ShownFault) => JSON.stringify([when, then]);

const isSameFault = (one: ShownFault, other: ShownFault) => faultText(one) === faultText(other);

const areSameFaults = (some: Faults, others: Faults) =>
  `${some.map(faultText)}` === `${others.map(faultText)}`;

/** The active faults before and after this page has turned some off: an undo brings back those before. */
interface TurnedOff {
  readonly before: Faults;
  readonly after: Faults;
}

const lastTurnedOff = new Shared<TurnedOff | undefined>(undefined);

const readFaults = () => call<Faults>("/faults");

const replaceFaults = (faults: Faults) => call("/faults", { method: "PUT", body: { faults } });

export async function addFault(fault: ShownFault): Promise<void> {
  const active = await readFaults();
  await replaceFaults([...active, fault]);
}

async function turnOffAll(): Promise<void> {
  const before = await readFaults();
  await replaceFaults([]);
  lastTurnedOff.value = { before, after: [] };
}

/** Turns off one fault: of equal ones, the first. */
export async function turnOff(fault: ShownFault): Promise<void> {
  const before = await readFaults();
  const place = before.findIndex((other) => isSameFault(other, fault));
  const after = before.filter((_, index) => index !== place);
  await replaceFaults(after);
  lastTurnedOff.value = { before, after };
}

async function undo({ before }: TurnedOff): Promise<void> {
  const active = await readFaults();
  // One that is still active may have matched more requests since.
  const faults = before.map((fault) => active.find((other) => isSameFault(other, fault)) ?? fault);
  await replaceFaults(faults);
}

/** Faults change responses, so every view shows them and turns them off, or on again. */
export function ActiveFaults() {
  const scenario = useScenarioName();
  // Another scenario has other keys, and its own faults.
  useEffect(() => {
    lastTurnedOff.value = undefined;
  }, [scenario]);
  const active = useData("/faults").data ?? [];
  const last = useShared(lastTurnedOff);

  const isOn = active.length > 0;
  // Nothing is undone after somebody has changed the faults again.
  const undoable = last !== undefined && areSameFaults(active, last.after) ? last : undefined;
  if (!isOn && undoable === undefined) return null;
  return (
    <span class="bar active-faults">
      <a href={linkTo("sandbox", ["faults"])}>
        {isOn ? `${counted(active.length, "fault")} active` : "Faults are off"}
      </a>
      {isOn && (
        <Button class="quiet small" run={turnOffAll}>
          Turn off
        </Button>
      )}
      {undoable && (
        <Button class="quiet small" run={() => undo(undoable)}>
          Undo
        </Button>
      )}
    </span>
  );
}
