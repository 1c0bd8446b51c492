import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { EditorState, StateEffect } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { offsetOf, type Problem } from "./problem.js";

export interface Editor {
  readonly text: () => string;
  /** Replaces the whole text in one undoable step. */
  readonly replace: (text: string) => void;
  /** Focuses the editor and moves the cursor to a line and column, counted from 1. */
  readonly goTo: (line: number, column: number) => void;
  /** Underlines problems in the text. */
  readonly show: (problems: readonly Problem[]) => void;
  readonly close: () => void;
}

interface EditorOptions {
  readonly host: HTMLElement;
  readonly text: string;
  readonly onChange: () => void;
  readonly onApply: () => void;
}

/**
 * Opens an editor in the shadow tree of an element.
 *
 * A shadow tree adopts the editor's style sheets. In the page they would be `<style>` elements, which the page's
 * policy blocks.
 */
export function openEditor({ host, text, onChange, onApply }: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const apply = () => {
    onApply();
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        drawSelection(),
        colors,
        EditorView.contentAttributes.of({
          "aria-label": "Scenario as YAML",
          spellcheck: "false",
          tabindex: "0",
        }),
        EditorView.updateListener.of(({ docChanged }) => {
          if (docChanged) onChange();
        }),
        keymap.of([
          { key: "Mod-s", run: apply, preventDefault: true },
          { key: "Ctrl-Space", run: afterLoading((more) => more.suggestNow) },
          { key: "Mod-f", run: afterLoading((more) => more.find), preventDefault: true },
          ...historyKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.domEventHandlers({
          focus: extendSoon,
          mouseover: extendSoon,
        }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    replace(next) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    goTo(line, column) {
      const anchor = offsetOf(view.state.doc, line, column);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
      view.focus();
    },
    show(problems) {
      const of = view.state.doc;
      if (problems.length > 0 || extended.has(view)) {
        const marked = extend(view).then(({ mark }) => view.state.doc === of && mark(view, problems));
        marked.catch(() => {});
      }
    },
    close: () => view.destroy(),
  };
}

/** Colors and what helps with editing are loaded with the first focus, pointer or problem. */
type More = typeof import("./editor-extensions.js");

const extended = new WeakMap<EditorView, Promise<More>>();

/** Loads the extensions, once for each editor. */
function extend(view: EditorView): Promise<More> {
  const started = extended.get(view);
  if (started !== undefined) return started;
  const loading = import("./editor-extensions.js").then((more) => {
    view.dispatch({ effects: StateEffect.appendConfig.of(more.extensions()) });
    return more;
  });
  // After a failure, the next key or focus tries again.
  loading.catch(() => extended.delete(view));
  extended.set(view, loading);
  return loading;
}

function extendSoon(_: Event, view: EditorView): void {
  extend(view).catch(() => {});
}

/** A command that waits for the extensions. Their own keys replace it then. */
function afterLoading(command: (more: More) => (view: EditorView) => boolean) {
  return (view: EditorView) => {
    const run = extend(view).then((more) => command(more)(view));
    run.catch(() => {});
    return true;
  };
}

const colors = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "0.875rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--muted)", backgroundColor: "var(--surface)", borderColor: "var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--raised)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
});
