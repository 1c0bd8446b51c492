import { escapeControls } from "../report/plain-text.js";
import type { Palette } from "./palette.js";

const token = /("(?:\\.|[^"\\])*")(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A body indented and in colours when it is JSON, else as it is; without what a terminal would obey. */
export function paintJson(body: string, palette: Palette): string {
  const indented = indentedJson(body);
  if (indented === undefined) {
    return body
      .split(/\r?\n/)
      .map((line) => escapeControls(line))
      .join("\n");
  }
  return indented.replace(token, (whole, text?: string, colon?: string) => {
    if (text === undefined) return palette.yellow(whole);
    return colon === undefined ? palette.green(text) : `${palette.cyan(text)}:`;
  });
}

function indentedJson(body: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
      .split("\n")
      .map((line) => escapeControls(line))
      .join("\n");
  } catch {
    return undefined;
  }
}
