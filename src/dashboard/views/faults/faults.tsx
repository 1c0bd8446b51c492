import { signal } from "@preact/signals";
import { call } from "../../control/call.js";
import { faults, requestChecks } from "../../control/resources.js";
import type { Shown } from "../../control/responses.js";
import { ActionButton } from "../../elements/forms/action.js";
import { Read } from "../../elements/read.js";
import { capitalized } from "../../elements/words.js";
import { AssumptionList } from "./assumptions.js";
import { FaultForm } from "./fault-form.js";
import { conditionWords, effectsText, hitsText } from "./fault-words.js";

export function FaultsView() {
  return (
    <>
      <h1>Faults and assumptions</h1>
      <Faults />
      <AssumptionList />
    </>
  );
}

const effects = () => requestChecks.data.value?.effects ?? [];

// The sandbox knows only active faults.
const switchedOff = signal<readonly Shown<"Fault">[]>([]);

// Another page may have changed the faults in between.
async function changeFaults(next: (on: readonly Shown<"Fault">[]) => readonly unknown[]): Promise<void> {
  const on = await call<readonly Shown<"Fault">[]>("/faults");
  await call("/faults", { method: "PUT", body: { faults: next(on) } });
}

function without(all: readonly Shown<"Fault">[], some: readonly Shown<"Fault">[]): readonly Shown<"Fault">[] {
  const left = [...all];
  for (const fault of some) {
    const place = left.findIndex((one) => nameOf(one) === nameOf(fault));
    if (place >= 0) left.splice(place, 1);
  }
  return left;
}

// Its count changes with each request.
function nameOf({ when, then }: Shown<"Fault">): string {
  return JSON.stringify([when, then]);
}

function Faults() {
  return (
    <section class="panel stack" aria-labelledby="faults-title">
      <h2 id="faults-title">Faults</h2>
      <p class="muted">
        Problems between client and API. The first fault that matches a request fires, before the request
        checks.
      </p>
      <Read of={faults}>{(on) => <FaultList on={on} />}</Read>
    </section>
  );
}

function FaultList({ on }: { readonly on: readonly Shown<"Fault">[] }) {
  const off = switchedOff.value;
  const remove = (some: readonly Shown<"Fault">[]) => changeFaults((all) => without(all, some));
  const turnOff = async (some: readonly Shown<"Fault">[]) => {
    await remove(some);
    switchedOff.value = [...off, ...some];
  };
  const turnOn = async (some: readonly Shown<"Fault">[]) => {
    await changeFaults((all) => [...all, ...some]);
    switchedOff.value = off.filter((one) => !some.includes(one));
  };
  return (
    <>
      {on.length + off.length === 0 ? <p>No faults. Every request gets its normal response.</p> : null}
      <ul class="list faults">
        {on.map((fault, index) => (
          <FaultRow key={index} fault={fault} hits={hitsText(fault, on.slice(0, index), effects())}>
            <ActionButton class="quiet" run={() => turnOff([fault])}>
              Turn off
              <Which fault={fault} />
            </ActionButton>
            <ActionButton class="danger" run={() => remove([fault])}>
              Remove
              <Which fault={fault} />
            </ActionButton>
          </FaultRow>
        ))}
        {off.map((fault, index) => (
          <FaultRow key={`off ${index}`} fault={fault} isOff>
            <ActionButton class="quiet" run={() => turnOn([fault])}>
              Turn on
              <Which fault={fault} />
            </ActionButton>
            <button
              type="button"
              class="danger"
              onClick={() => {
                switchedOff.value = off.filter((one) => one !== fault);
              }}
            >
              Discard
              <Which fault={fault} />
            </button>
          </FaultRow>
        ))}
      </ul>
      <p class="bar">
        {on.length > 1 ? (
          <ActionButton class="quiet" run={() => turnOff(on)}>
            Turn all off
          </ActionButton>
        ) : null}
        {off.length > 1 ? (
          <ActionButton class="quiet" run={() => turnOn(off)}>
            Turn all on
          </ActionButton>
        ) : null}
        {off.length > 0 ? (
          <span class="muted">Faults that are off stay on this page until you reload it.</span>
        ) : null}
      </p>
      <FaultForm changeFaults={changeFaults} />
    </>
  );
}

function Which({ fault: { when, then } }: { readonly fault: Shown<"Fault"> }) {
  return (
    <span class="visually-hidden">{` the fault: ${conditionWords(when)} ${effectsText(then, effects())}`}</span>
  );
}

function FaultRow(props: {
  readonly fault: Shown<"Fault">;
  readonly isOff?: boolean;
  readonly hits?: string | undefined;
  readonly children: preact.ComponentChildren;
}) {
  const { fault, isOff = false, hits, children } = props;
  return (
    <li class="bar">
      <p class={isOff ? "wide muted" : "wide"}>
        <strong>
          <bdi>{capitalized(conditionWords(fault.when))}:</bdi>
        </strong>{" "}
        {effectsText(fault.then, effects())}. {isOff ? <span class="badge">off</span> : null}
        {hits === undefined ? null : <span class="muted"> {hits}.</span>}
      </p>
      <div class="bar">{children}</div>
    </li>
  );
}
