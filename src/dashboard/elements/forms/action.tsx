import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { ControlError } from "../../control/call.js";
import { isOffline } from "../../control/revision.js";
import { aboutRejections, DocsLink } from "../docs-link.js";

/** An action of a form or button, and the sandbox's rejection if there was one. */
export interface Action<Given extends readonly unknown[] = []> {
  readonly isRunning: boolean;
  readonly problem: ControlError | undefined;
  /** Runs it, unless it is already running. */
  readonly run: (...given: Given) => Promise<void>;
}

/** Calls the control plane, and keeps its rejection for `Rejection`. */
export function useAction<Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<unknown>,
): Action<Given> {
  const isRunning = useSignal(false);
  const problem = useSignal<ControlError | undefined>(undefined);
  const run = async (...given: Given) => {
    if (isRunning.value) return;
    isRunning.value = true;
    problem.value = undefined;
    try {
      await work(...given);
    } catch (error) {
      problem.value = error as ControlError;
    }
    isRunning.value = false;
  };
  return { isRunning: isRunning.value, problem: problem.value, run };
}

/** Actions that run in sequence, with the rejection of the last one. */
export interface ActionQueue {
  readonly problem: ControlError | undefined;
  readonly add: (work: () => Promise<unknown>) => void;
}

/** Runs added actions in sequence, so that fast clicks are not lost. */
export function useActionQueue(): ActionQueue {
  const problem = useSignal<ControlError | undefined>(undefined);
  const last = useRef(Promise.resolve());
  return {
    problem: problem.value,
    add(work) {
      last.current = last.current.then(async () => {
        try {
          await work();
          problem.value = undefined;
        } catch (error) {
          problem.value = error as ControlError;
        }
      });
    },
  };
}

// A person has sent no body.
const wordsOf = ({ fields, message }: ControlError) => Object.values(fields).join("\n") || message;

export function RejectionText({ problem }: { readonly problem: ControlError | undefined }) {
  if (problem === undefined) return null;
  return (
    <p class="rejection" role="alert">
      <bdi>{wordsOf(problem)}</bdi>{" "}
      {problem.isOfSandbox ? (
        <DocsLink to={aboutRejections}>
          <code>{problem.code}</code>
        </DocsLink>
      ) : null}
    </p>
  );
}

interface ActionButtonProps {
  readonly run: () => Promise<unknown>;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
}

/** A button that calls the control plane if that responds, and shows a rejection below. */
export function ActionButton({ run, children, class: name = "", title }: ActionButtonProps) {
  const action = useAction(run);
  return (
    <>
      <button
        type="button"
        class={name}
        title={title}
        disabled={isOffline.value}
        aria-busy={action.isRunning}
        onClick={action.run}
      >
        {children}
      </button>
      <RejectionText problem={action.problem} />
    </>
  );
}
