import {
  type Cell,
  detailed,
  type Picture,
  type ReportDocument,
  type Section,
  type Tone,
} from "./document.js";
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
  const shown = sections.filter(({ rows, picture }) => rows.length > 0 || picture !== undefined);
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
    ...shown.flatMap(sectionLines),
    ...(yaml === undefined ? [] : [`<h2>${xmlText(yaml.title)}</h2>`, `<pre>${xmlText(yaml.text)}</pre>`]),
    ...notes.map((note) => `<p>${xmlText(note)}</p>`),
    "</main>",
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function sectionLines({ title, columns, rows, picture, note }: Section, index: number): string[] {
  const heading = `section-${index + 1}`;
  const table = [
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
  ];
  return [
    `<h2 id="${heading}">${xmlText(title)}</h2>`,
    ...(picture === undefined ? [] : pictureLines(picture)),
    ...(rows.length === 0 ? [] : table),
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

const side = 16;
const step = side + 4;
const labelWidth = 60;
const mostInLine = 28;

// Squares also differ without colors: filled, with a cross, with a bar, empty.
const marks: Readonly<Record<Tone, string>> = {
  good: "",
  bad: '<path d="M4 4l8 8M12 4l-8 8"/>',
  warning: '<path d="M4 8h8"/>',
  quiet: "",
};

function pictureLines({ text, rows }: Picture): string[] {
  const squares: string[] = [];
  let y = 0;
  for (const { label, parts } of rows) {
    squares.push(`<text x="0" y="${y + 13}">${xmlText(label)}</text>`);
    for (const [index, { name, tone }] of parts.entries()) {
      if (index > 0 && index % mostInLine === 0) y += step;
      const x = labelWidth + (index % mostInLine) * step;
      const square = `<rect width="${side}" height="${side}" rx="3"/>${marks[tone]}`;
      squares.push(
        `<g class="${tone}" transform="translate(${x} ${y})"><title>${xmlText(name)}</title>${square}</g>`,
      );
    }
    y += step;
  }
  const widest = Math.max(...rows.map(({ parts }) => parts.length));
  const width = labelWidth + Math.min(widest, mostInLine) * step;
  return [
    `<svg role="img" aria-label="${xmlText(text)}" viewBox="-1 -1 ${width} ${y}" width="${width}" height="${y}">`,
    ...squares,
    "</svg>",
    `<p class="quiet">${xmlText(text)}</p>`,
  ];
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
tr, svg { break-inside: avoid; }
svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--text); font: 13px system-ui, sans-serif; }
svg rect { stroke: currentColor; fill: currentColor; }
svg .quiet rect { fill: none; }
svg path { stroke: var(--ground); stroke-width: 2; }
.good { color: var(--good); }
.warning { color: var(--warning); }
.bad { color: var(--bad); }
.quiet { color: var(--quiet); }
@media print { div { overflow: visible; } main { padding: 0; max-width: none; } }
`;
