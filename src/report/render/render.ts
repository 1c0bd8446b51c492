import type { ReportDocument, ReportFormat } from "./document.js";
import { renderJunit } from "./junit.js";
import { renderMarkdown } from "./markdown.js";
import { type ReportPalette, renderText } from "./text.js";

/** Renders a document in a format, with a line end; `palette` colours the text format. */
export function render(document: ReportDocument, format: ReportFormat, palette?: ReportPalette): string {
  switch (format) {
    case "json":
      return `${JSON.stringify(document.json, null, 2)}\n`;
    case "markdown":
      return renderMarkdown(document);
    case "junit":
      return renderJunit(document);
    default:
      return renderText(document, palette);
  }
}
