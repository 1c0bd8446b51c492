import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
} from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { type EditorState, Prec } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap, tooltips } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { callBare } from "../../control/call.js";
import { describeAt, type Schema, suggest } from "./completion.js";
import { offsetOf, type Problem } from "./problem.js";

let schema: Schema | undefined;
try {
  schema = await callBare<Schema>("/scenario.schema.json");
} catch {
  // Without a schema the editor suggests nothing; validation does not need it.
}

const colors = EditorView.theme({
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--limit) 20%, transparent)" },
  ".cm-tooltip": {
    maxWidth: "28rem",
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line)",
  },
  ".cm-tooltip.cm-completionInfo, .field-description, .cm-diagnostic": {
    padding: "0.4rem 0.6rem",
    fontFamily: "var(--sans)",
    whiteSpace: "pre-wrap",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "var(--on-accent)", background: "var(--accent)" },
  // All rendered options are visible: a scrolling list would need keyboard focus.
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { maxHeight: "none", fontFamily: "var(--mono)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--danger)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--limit)" },
  // The editor's own underline is a data URL image, which the page's policy blocks.
  ".cm-lintRange": { backgroundImage: "none", paddingBottom: "0" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--danger)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--limit)" },
  ".cm-lintRange-active": { backgroundColor: "var(--notice)" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--danger)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--raised)" },
  ".cm-textfield, .cm-button": { color: "var(--text)", background: "var(--surface)" },
});

/** Colors, suggestions, descriptions, marks of problems and the search. */
export const extensions = () => [
  yaml(),
  syntaxHighlighting(highlighting),
  colors,
  closeBrackets(),
  highlightSelectionMatches(),
  search({ top: true }),
  // They cover no control next to the editor, and scroll with it.
  tooltips({ position: "absolute", tooltipSpace: ({ dom }) => dom.getBoundingClientRect() }),
  autocompletion({ override: [completions], maxRenderedOptions: 10, icons: false }),
  hoverTooltip(description),
  Prec.high(
    keymap.of([
      { key: "Tab", run: acceptCompletion },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...searchKeymap,
      ...lintKeymap,
    ]),
  ),
];

export { openSearchPanel as find, startCompletion as suggestNow };

export function mark(view: EditorView, problems: readonly Problem[]): void {
  view.dispatch(
    setDiagnostics(
      view.state,
      problems.flatMap((one) => diagnostic(view.state, one)),
    ),
  );
}

function diagnostic(state: EditorState, problem: Problem): Diagnostic[] {
  const { line, column, level, message, hint } = problem;
  if (line === null || column === null) return [];
  const from = offsetOf(state.doc, line, column);
  const to = state.wordAt(from)?.to ?? from;
  return [{ from, to, severity: level, message: hint === null ? message : `${message}\n${hint}` }];
}

function completions({ state, pos, explicit }: CompletionContext) {
  if (schema === undefined) return null;
  const found = suggest(schema, state.doc.toString(), pos);
  // Without a request, only while typing or where a value is expected.
  if (
    found === undefined ||
    (!explicit && found.from === pos && !/[:\-{[,] $/.test(state.sliceDoc(pos - 2, pos)))
  ) {
    return null;
  }
  return { ...found, validFor: /^[\w.-]*$/ };
}

function description({ state }: EditorView, position: number) {
  const word = state.wordAt(position);
  const text = schema && word && describeAt(schema, state.doc.toString(), word.from);
  if (!text || !word) return null;
  return {
    pos: word.from,
    end: word.to,
    above: true,
    create() {
      const dom = document.createElement("div");
      dom.className = "field-description";
      dom.textContent = text;
      return { dom };
    },
  };
}

const highlighting = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--fault)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--success)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--access)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--muted)", fontStyle: "italic" },
  {
    tag: [tags.punctuation, tags.separator, tags.bracket, tags.squareBracket, tags.brace],
    color: "var(--muted)",
  },
  { tag: [tags.meta, tags.typeName, tags.labelName], color: "var(--limit)" },
  { tag: tags.content, color: "var(--text)" },
]);
