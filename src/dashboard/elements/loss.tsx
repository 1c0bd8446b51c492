import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { KeyPage, Request } from "../control/answers.js";
import { call, callBare } from "../control/call.js";
import { Confirm, type ConfirmProps } from "./dialog.js";
import { counted, listed } from "./words.js";

interface LossProps extends ConfirmProps {
  /** Whether the requests go, or the whole state of the sandbox. Default: the state. */
  readonly lost?: "requests" | "state";
  /** The control plane concerned, as a path from this one. Default: this one. */
  readonly of?: string;
}

/** A question before requests or the state of a sandbox are discarded; lists what goes. */
export function ConfirmLoss({ lost = "state", of = "", children, ...question }: LossProps) {
  const counts = useSignal<readonly string[] | undefined>(undefined);
  useEffect(() => {
    const show = (read: readonly string[]) => {
      counts.value = read;
    };
    // A sandbox that does not respond is asked all the same, and says so then.
    countsOf(of, lost).then(show, () => show([]));
  }, []);
  return (
    <Confirm instead="Keep it" {...question}>
      <p>
        {counts.value === undefined
          ? "Reading what goes…"
          : `This discards ${listed([...counts.value, lost === "requests" ? "the report" : "every other change since the start"])}.`}
      </p>
      {children}
    </Confirm>
  );
}

async function countsOf(of: string, lost: "requests" | "state"): Promise<string[]> {
  const requests = await call<readonly Request[]>(`${of}/requests`);
  const { created } = lost === "requests" ? { created: 0 } : await callBare<KeyPage>(`${of}/keys?limit=1`);
  return [
    ...(requests.length === 0 ? [] : [counted(requests.length, "request")]),
    ...(created === 0 ? [] : [`${counted(created, "key")} created since the start`]),
  ];
}

interface LossButtonProps extends Omit<LossProps, "onClose" | "children"> {
  readonly class?: string;
  /** The key of the keyboard that presses it. */
  readonly shortcut?: string;
  /** The words of the button that asks. */
  readonly children: ComponentChildren;
}

/** A button that discards something, after a question that lists what goes. */
export function LossButton({ class: name, shortcut, children, ...question }: LossButtonProps) {
  const isAsking = useSignal(false);
  const ask = (asks: boolean) => () => {
    isAsking.value = asks;
  };
  return (
    <>
      <button type="button" class={name} aria-keyshortcuts={shortcut} onClick={ask(true)}>
        {children}
      </button>
      {isAsking.value ? <ConfirmLoss {...question} onClose={ask(false)} /> : null}
    </>
  );
}
