import { keyCounts, type Reading, type Results } from "./results.js";
import { measured, readingOf, textOf } from "./table.js";

const width = 900;
const rowHeight = 40;
const top = 92;
const labels = 160;
const panelWidth = 330;
const gap = 44;

/** One half of the plot: a ratio of each peer on a logarithmic axis. */
interface Panel {
  readonly title: string;
  readonly hint: string;
  readonly left: number;
  readonly of: (reading: Reading) => number;
}

const panels: readonly Panel[] = [
  {
    title: "Requests per second",
    hint: "of those of a bare node:http server; more is better",
    left: labels,
    of: ({ requests }) => requests.median,
  },
  {
    title: "First answer",
    hint: "times the start and end of node -e 0; less is better",
    left: labels + panelWidth + gap,
    of: ({ firstAnswer }) => firstAnswer.median,
  },
];

/** The plot as an SVG with colours of its own for light and dark: a dot for each peer and number of keys. */
export function plotOf(results: Results): string {
  const rows = measured(results);
  const bottom = top + rows.length * rowHeight;
  const height = bottom + 34;
  const names = rows.map(({ title, name }, row) => {
    const weight = name === "ours" ? ' class="own"' : "";
    return `<text x="${labels - 16}" y="${middleOf(row) + 4}" text-anchor="end"${weight}>${escaped(title)}</text>`;
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="what">`,
    `<title id="what">${escaped(textOf(results))}</title>`,
    `<style>${style}</style>`,
    `<rect class="page" width="${width}" height="${height}" rx="8"/>`,
    ...legend(),
    ...names,
    ...rows.map((_, row) => {
      const y = top + row * rowHeight;
      return `<line class="line" x1="16" x2="${width - 16}" y1="${y}" y2="${y}"/>`;
    }),
    ...panels.flatMap((panel) => panelOf(panel, results, bottom)),
    "</svg>",
  ].join("\n")}\n`;
}

const style = [
  "text{font:13px system-ui,sans-serif;fill:#1f2328}.own,.head{font-weight:600}.soft{fill:#59636e;font-size:12px}",
  ".page{fill:#fff}.line{stroke:#d1d9e0}",
  ".k0{fill:#0550ae}.k1{fill:#8250df}.k2{fill:#bc4c00}",
  "@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.soft{fill:#9198a1}.page{fill:#0d1117}",
  ".line{stroke:#3d444d}.k0{fill:#79c0ff}.k1{fill:#d2a8ff}.k2{fill:#ffa657}}",
].join("");

function middleOf(row: number): number {
  return top + row * rowHeight + rowHeight / 2;
}

function legend(): string[] {
  return keyCounts.flatMap((keys, index) => {
    const x = labels + index * 110;
    return [
      mark(index, x + 5, 20),
      `<text class="soft" x="${x + 18}" y="24">${keys.toLocaleString("en")} keys</text>`,
    ];
  });
}

/** A dot, a diamond or a square, so that colour alone tells nothing. */
function mark(index: number, x: number, y: number): string {
  if (index === 0) return `<circle class="k0" cx="${tenth(x)}" cy="${y}" r="5.5"/>`;
  const side = index === 1 ? 9 : 9.5;
  const turn = index === 1 ? ` transform="rotate(45 ${tenth(x)} ${y})"` : "";
  return `<rect class="k${index}" x="${tenth(x - side / 2)}" y="${tenth(y - side / 2)}" width="${side}" height="${side}"${turn}/>`;
}

function panelOf({ title, hint, left, of }: Panel, results: Results, bottom: number): string[] {
  const rows = measured(results).map(({ result }) =>
    keyCounts.map((keys) => {
      const reading = readingOf(result, keys);
      return reading === undefined ? undefined : of(reading);
    }),
  );
  const values = rows.flat().filter((value) => value !== undefined);
  const lowest = Math.floor(Math.log10(Math.min(1, ...values)));
  const highest = Math.ceil(Math.log10(Math.max(1, ...values)));
  const at = (value: number) =>
    left + ((Math.log10(value) - lowest) / Math.max(1, highest - lowest)) * panelWidth;
  const decades = Array.from({ length: highest - lowest + 1 }, (_, index) => 10 ** (lowest + index));
  return [
    `<text class="head" x="${left}" y="54">${title}</text>`,
    `<text class="soft" x="${left}" y="72">${hint}</text>`,
    ...decades.flatMap((value) => [
      `<line class="line" x1="${tenth(at(value))}" x2="${tenth(at(value))}" y1="${top}" y2="${bottom}"/>`,
      `<text class="soft" x="${tenth(at(value))}" y="${bottom + 18}" text-anchor="middle">${Number(value.toPrecision(1))}</text>`,
    ]),
    // One below the other, so that none hides another.
    ...rows.flatMap((row, index) =>
      row.flatMap((value, k) =>
        value === undefined ? [] : [mark(k, at(value), middleOf(index) + (k - 1) * 10)],
      ),
    ),
  ];
}

function tenth(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
