import type { ReportFormat, ReportLayout } from "./layout.js";
import { renderJunit } from "./render-junit.js";
import { renderMarkdown } from "./render-markdown.js";
import { renderText, type TextStyle } from "./render-text.js";

/** The layout in a format. It leaves out sections without rows. */
export function render(layout: ReportLayout, format: ReportFormat, style: TextStyle = {}): string {
  const filledSections = layout.sections.filter((section) => section.rows.length > 0);
  const filledLayout: ReportLayout = { ...layout, sections: filledSections };

  switch (format) {
    case "text":
      return renderText(filledLayout, style);
    case "json":
      return `${JSON.stringify(filledLayout.json, null, 2)}\n`;
    case "markdown":
      return renderMarkdown(filledLayout);
    case "junit":
      return renderJunit(filledLayout);
  }
}
