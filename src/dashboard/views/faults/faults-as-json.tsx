import { useSignal } from "@preact/signals";
import type { Fault } from "../../control/answers.js";
import { ControlError } from "../../control/call.js";
import { useAction } from "../../elements/forms/action.js";
import { Field } from "../../elements/forms/field.js";
import type { ChangeFaults } from "./fault-words.js";

/** All active faults as editable JSON, for details without a field in the form. */
export function FaultsAsJson({
  on,
  changeFaults,
}: {
  readonly on: readonly Fault[];
  readonly changeFaults: ChangeFaults;
}) {
  // The typed text; `undefined` while it matches the sandbox.
  const typed = useSignal<string | undefined>(undefined);
  const action = useAction(async () => {
    const next = faultsIn(typed.value ?? "[]");
    await changeFaults(() => next);
    typed.value = undefined;
  });
  const { problem } = action;
  const fields = Object.entries(problem?.fields ?? {}).map(([name, text]) => {
    const [, number = "", ...path] = name.split(".");
    return `Fault ${Number(number) + 1}, ${path.join(".")}: ${text}`;
  });
  return (
    <details>
      <summary>All faults as JSON</summary>
      <form class="stack" onSubmit={action.submit}>
        <Field
          label="Faults"
          hint="A list, in the format of faults in a scenario."
          problem={problem && (fields.join("\n") || problem.message)}
        >
          {(attributes) => (
            <textarea
              {...attributes}
              rows={12}
              spellcheck={false}
              value={typed.value ?? JSON.stringify(on, null, 2)}
              onInput={(event) => {
                typed.value = event.currentTarget.value;
              }}
            />
          )}
        </Field>
        <p class="bar">
          <button type="submit" disabled={typed.value === undefined} aria-busy={action.isRunning}>
            Replace the faults
          </button>
          <button
            type="button"
            class="quiet"
            disabled={typed.value === undefined}
            onClick={() => {
              typed.value = undefined;
            }}
          >
            Undo
          </button>
        </p>
      </form>
    </details>
  );
}

function faultsIn(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ControlError("not_json", `This is not valid JSON: ${(error as Error).message}`);
  }
  if (Array.isArray(value)) return value;
  throw new ControlError("no_list", "Enter a list: [ … ]. An empty list, [], turns all faults off.");
}
