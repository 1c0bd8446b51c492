import { type Cell, detailed, type ReportDocument, type Section, type Tone } from "./document.js";
import { xmlText } from "./junit.js";

/** Renders the document as one page without scripts and other files; for light and dark screens, and for print. */
export function renderHtml({
  kind,
  subject,
  title,
  sections,
  yaml,
  notes,
  conclusion,
  failures,
}: ReportDocument): string {
  const block = yaml?.text.split("\n").map(xmlText).join("\n");
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${xmlText(`svc-sandbox ${kind}: ${subject}`)}</title>`,
    `<style>\n${style}</style>`,
    "</head>",
    "<body>",
    "<main>",
    `<h1${toneClass(conclusion.tone)}>${xmlText(conclusion.text)}</h1>`,
    `<p>${xmlText(title)}.</p>`,
    ...failures.map((failure) => `<p class="bad">${xmlText(failure)}</p>`),
    ...sections.flatMap(sectionLines),
    ...(yaml === undefined ? [] : [`<h2>${xmlText(yaml.title)}</h2>`, `<pre>${block}</pre>`]),
    ...notes.map((note) => `<p>${xmlText(note)}</p>`),
    "</main>",
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function sectionLines({ title, columns, rows, note }: Section, index: number): string[] {
  const heading = `section-${index + 1}`;
  return [
    `<h2 id="${heading}">${xmlText(title)}</h2>`,
    // Wide tables can also be scrolled with the keyboard.
    `<div role="region" tabindex="0" aria-labelledby="${heading}">`,
    "<table>",
    `<thead><tr>${columns.map((column) => `<th scope="col">${xmlText(column)}</th>`).join("")}</tr></thead>`,
    "<tbody>",
    ...rows.map(({ cells: [first = "", ...cells], details = [] }) => {
      const lists = details.map((lines) => `<td>${lines.map(xmlText).join("<br>")}</td>`);
      const head = `<th scope="row"${cellInside(first)}</th>`;
      return `<tr>${[head, ...cells.map((cell) => `<td${cellInside(cell)}</td>`), ...lists].join("")}</tr>`;
    }),
    "</tbody>",
    "</table>",
    "</div>",
    ...(note === undefined ? [] : [`<p${cellInside(note)}</p>`]),
  ];
}

function cellInside(cell: Cell): string {
  const { text, tone, code } = detailed(cell);
  return `${toneClass(tone)}>${xmlText(text)}${code === undefined ? "" : ` <code>${xmlText(code)}</code>`}`;
}

function toneClass(tone: Tone | undefined): string {
  return tone === undefined ? "" : ` class="${tone}"`;
}

// All texts have a contrast of at least 4.5.
const style = `:root {
  color-scheme: light dark;
  --ground: #fff; --text: #1a211c; --line: #c9d0c5;
  --good: #1c6640; --warning: #7d5000; --bad: #9c2f19; --quiet: #545e57;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101411; --text: #e7ece7; --line: #3c463e;
    --good: #74d29b; --warning: #f0c46a; --bad: #ff9f88; --quiet: #a5b0a8;
  }
}
@media print {
  :root {
    --ground: #fff; --text: #000; --line: #999;
    --good: #1c6640; --warning: #7d5000; --bad: #9c2f19; --quiet: #545e57;
  }
}
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 75rem; margin: 0 auto; padding: 1.5rem 1rem; }
h1 { font-size: 1.4rem; border-left: 0.4rem solid; padding-left: 0.8rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; break-after: avoid; }
p { max-width: 75ch; overflow-wrap: anywhere; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th, td { max-width: 60ch; font-variant-numeric: tabular-nums; }
td:last-child { min-width: 12ch; max-width: 70ch; overflow-wrap: anywhere; }
thead th { color: var(--quiet); font-weight: normal; }
code, pre { font: 0.85rem ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
tr { break-inside: avoid; }
.good { color: var(--good); }
.warning { color: var(--warning); }
.bad { color: var(--bad); }
.quiet { color: var(--quiet); }
@media print { div { overflow: visible; } main { padding: 0; max-width: none; } }
`;
