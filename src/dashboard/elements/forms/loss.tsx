import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { call, callBare } from "../../control/call.js";
import type { Shown } from "../../control/responses.js";
import { counted, listText } from "../words.js";
import { AskButton, Confirm, type ConfirmProps } from "./dialog.js";

interface LossProps extends ConfirmProps {
  /** Whether the requests are lost, or the whole state of the sandbox. Default: the state. */
  readonly lost?: "requests" | "state";
  /** The affected control plane, as a path relative to this one. Default: this one. */
  readonly of?: string;
}

/** A question before requests or a sandbox's state are discarded, with a list of the losses. */
export function ConfirmLoss({ lost = "state", of = "", children, ...question }: LossProps) {
  const counts = useSignal<readonly string[] | undefined>(undefined);
  useEffect(() => {
    const show = (read: readonly string[]) => {
      counts.value = read;
    };
    // If the sandbox does not respond, the action itself reports that.
    countsOf(of, lost).then(show, () => show([]));
  }, []);
  return (
    <Confirm instead="Cancel" {...question}>
      <p>
        {counts.value === undefined
          ? "Reading the current state…"
          : `This discards ${listText([...counts.value, lost === "requests" ? "the report" : "all other changes since the start"])}.`}
      </p>
      {lost === "requests" || of !== "" ? null : (
        <p class="muted">The report stays: its coverage and advice also count the requests until now.</p>
      )}
      {children}
    </Confirm>
  );
}

async function countsOf(of: string, lost: "requests" | "state"): Promise<string[]> {
  const requests = await call<readonly Shown<"Request">[]>(`${of}/requests`);
  const { created } =
    lost === "requests" ? { created: 0 } : await callBare<Shown<"KeyPage">>(`${of}/keys?limit=1`);
  return [
    ...(requests.length === 0 ? [] : [counted(requests.length, "request")]),
    ...(created === 0 ? [] : [`${counted(created, "key")} created since the start`]),
  ];
}

interface LossButtonProps
  extends Omit<LossProps, "onClose" | "children" | "class">,
    Omit<Parameters<typeof AskButton>[0], "question"> {
  /** More about the loss, in the question. */
  readonly more?: () => ComponentChildren;
}

/** A button that discards something after a question that lists the losses. */
export function LossButton({ class: name, shortcut, children, more, ...question }: LossButtonProps) {
  return (
    <AskButton
      class={name}
      shortcut={shortcut}
      question={(onClose) => (
        <ConfirmLoss {...question} onClose={onClose}>
          {more?.()}
        </ConfirmLoss>
      )}
    >
      {children}
    </AskButton>
  );
}
