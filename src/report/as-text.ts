import type { AdviceLevel } from "../domain/advice.js";
import { alignColumns } from "./align-columns.js";
import { conclusion, counted } from "./conclusion.js";
import type { Report, ReportedAdvice, ReportedPath, ReportedRequest } from "./report.js";
import { visible } from "./visible.js";

type Paint = (text: string) => string;

/** Functions that colour a text, or leave it alone. */
export interface ReportPalette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly red: Paint;
}

const same: Paint = (text) => text;
const colourless: ReportPalette = { bold: same, dim: same, green: same, yellow: same, red: same };

/**
 * The report for people, with a line end.
 *
 * Of a client that never called it says that alone: with nothing met, which paths there are is no news.
 */
export function asText(report: Report, reasons: readonly string[], palette = colourless): string {
  const { scenario, seed, profile, requests, paths, advice } = report;
  const missed = paths.filter(({ promised, met }) => promised && !met);
  const fine = missed.length === 0 && advice.every(({ level }) => level === "note");
  const heading = `${counted(requests, "request")} to ${visible(scenario)} (seed ${seed}, profile ${profile})`;
  const end = [
    (fine ? palette.green : same)(conclusion(report)),
    ...reasons.map((reason) => palette.red(reason)),
    "",
  ];
  if (requests === 0) return [heading, "", ...end].join("\n");
  return [
    heading,
    "",
    palette.bold("Paths"),
    ...pathLines(paths, palette),
    ...(missed.length === 0 ? [] : ["", palette.bold("How to meet the others")]),
    ...missed.flatMap(({ pathId, when, howToMeet }) => [
      `  ${pathId}  ${palette.dim(when)}`,
      `    ${howToMeet ?? ""}`,
    ]),
    ...(advice.length === 0 ? [] : ["", palette.bold("Advice")]),
    ...advice.flatMap((row) => adviceLines(row, palette)),
    "",
    ...end,
  ].join("\n");
}

// Of what the API does not promise only what was met.
function pathLines(paths: readonly ReportedPath[], palette: ReportPalette): string[] {
  const shown = paths.filter(({ promised, met }) => promised || met);
  const cells = shown.map(({ pathId, promised, met, count }) => [
    pathId,
    met ? String(count) : "-",
    met ? (promised ? "met" : "not promised") : "missed",
  ]);
  return alignColumns(cells, (text, row, column) => {
    if (column !== 2) return text;
    const { promised, met } = shown[row] as ReportedPath;
    if (!promised) return palette.dim(text);
    return (met ? palette.green : palette.yellow)(text);
  }).map((line) => `  ${line}`);
}

function adviceLines(row: ReportedAdvice, palette: ReportPalette): string[] {
  const { id, level, rule, count, meaning, whatToDo, examples } = row;
  const paint: Readonly<Record<AdviceLevel, Paint>> = {
    error: palette.red,
    warning: palette.yellow,
    note: palette.dim,
  };
  const more = count - examples.length;
  return [
    `  ${paint[level](level)}  ${id}  ${counted(count, "request")}  ${palette.dim(rule)}`,
    `    ${meaning}`,
    `    ${whatToDo}`,
    ...examples.map((one) => `      ${requestText(one, palette)}`),
    ...(more > 0 ? [`      and ${more} more`] : []),
  ];
}

function requestText(
  { id, at, method, path, key, fingerprint, didYouMean }: ReportedRequest,
  palette: ReportPalette,
) {
  const meant = didYouMean === null ? [] : [`did you mean ${didYouMean}?`];
  const who = key ?? fingerprint ?? "no key";
  return [palette.dim(at), visible(method), visible(path), who, palette.dim(id), ...meant].join("  ");
}
