import { xmlText } from "../report/render/junit.js";
import type { CertifyResult, CertifyVerdict } from "./result.js";

// White text on each has a contrast of at least 4.5.
const colours: Readonly<Record<CertifyVerdict, string>> = {
  passed: "#1c6640",
  failed: "#9c2f19",
  flaky: "#7d5000",
  unusable: "#545e57",
};

const letterWidth = 6.5;
const padding = 7;

/** Renders the verdict as a small SVG, for a page about the client. */
export function certificateBadge({ verdict, promises, report: { coverage } }: CertifyResult): string {
  const label = "svc-sandbox";
  const share =
    promises.tried === 0 ? "promises not tested" : `${promises.noticed}/${promises.tried} promises`;
  const covered = `${coverage.met}/${coverage.promised} paths`;
  const text = verdict === "passed" ? `certified, ${covered}, ${share}` : verdict;
  const left = widthOf(label);
  const width = left + widthOf(text);
  const title = xmlText(`${label}: ${text}`);
  const words = (x: number, room: number, word: string) =>
    // The width is set because the font is unknown.
    `<text x="${x + padding}" y="14" textLength="${room - 2 * padding}" lengthAdjust="spacingAndGlyphs">${xmlText(word)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${title}">`,
    `<title>${title}</title>`,
    `<path fill="#3c4650" d="M4 0h${left - 4}v20H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z"/>`,
    `<path fill="${colours[verdict]}" d="M${left} 0h${width - left - 4}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4H${left}z"/>`,
    '<g fill="#fff" font-family="Verdana, DejaVu Sans, Arial, sans-serif" font-size="11">',
    words(0, left, label),
    words(left, width - left, text),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function widthOf(text: string): number {
  return Math.ceil(text.length * letterWidth) + 2 * padding;
}
