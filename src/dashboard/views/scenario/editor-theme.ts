import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The colors of the editor, from the page's light and dark colors. */
export const colors = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "0.875rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    color: "var(--muted)",
    backgroundColor: "var(--surface)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--raised) 60%, transparent)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--limit) 20%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--raised)", outline: "1px solid var(--muted)" },
  ".cm-tooltip": {
    maxWidth: "28rem",
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "var(--shadow)",
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
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--danger)",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--limit)",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-active": { backgroundColor: "var(--notice)" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--danger)" },
  ".cm-panel.cm-search": { padding: "0.4rem 0.5rem", fontFamily: "var(--sans)" },
  ".cm-panel.cm-search label, .cm-panel.cm-search :is(input, button)": { fontSize: "0.85rem" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--raised)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-textfield": {
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--muted)",
  },
  ".cm-button": {
    color: "var(--text)",
    background: "var(--surface)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
  },
  ".cm-foldPlaceholder": {
    color: "var(--muted)",
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line)",
  },
});

/** The colors of YAML syntax. */
export const highlighting = HighlightStyle.define([
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
