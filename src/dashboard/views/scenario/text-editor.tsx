import { useRef } from "preact/hooks";
import { check, draft, edit, type Problem } from "./scenario-text.js";

/** The text of the scenario in a text area, with the numbers of its lines; `✗` marks a line with a problem. */
export function TextEditor({ onApply }: { readonly onApply: () => void }) {
  const numbers = useRef<HTMLPreElement>(null);
  const marked = new Set(check.value?.problems.map(({ line }) => line));
  const lines = draft.value.split("\n").length;
  const column = Array.from({ length: lines }, (_, index) =>
    marked.has(index + 1) ? `✗ ${index + 1}` : index + 1,
  );
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onApply();
  };
  return (
    <div class="editor">
      <pre ref={numbers} aria-hidden="true">
        {column.join("\n")}
      </pre>
      <textarea
        aria-label="Scenario as YAML"
        wrap="off"
        spellcheck={false}
        value={draft.value}
        onInput={({ currentTarget }) => edit(currentTarget.value)}
        onKeyDown={pressed}
        onScroll={({ currentTarget }) => {
          if (numbers.current !== null) numbers.current.scrollTop = currentTarget.scrollTop;
        }}
      />
    </div>
  );
}

/** Selects the word at the place of a problem, in the middle of the editor. */
export function selectPlace({ line, column }: Problem): void {
  const area = document.querySelector<HTMLTextAreaElement>(".editor textarea");
  if (area === null || line === null || column === null) return;
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + column - 1;
  const word = /^[\w.-]*/.exec(area.value.slice(start))?.[0] ?? "";
  area.focus();
  area.setSelectionRange(start, start + word.length);
  area.scrollTop = (line / lines.length) * area.scrollHeight - area.clientHeight / 2;
}
