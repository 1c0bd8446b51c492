// A command in a text stays on one line, so that it can be pasted. Our own sentences write it in one of these ways:
//
//   in backticks:      Run `svc-sandbox list` for the bundled scenarios.
//   after a colon:     Start it with: npx --no-install svc-sandbox my.yaml --watch
//   after run or mean: Did you mean svc-sandbox start --port 4747?
//   first in a line:   svc-sandbox exec -- npm test
//   for curl:          Try it: curl -i http://127.0.0.1:4747/v1/relying-party/me
//
// Except in backticks, it ends with its part of the sentence.

/** In backticks: `` `svc-sandbox list` ``. */
const quotedCommand = /`[^`]+`/;
/** After a colon, after run or mean, or first in a line: `npx --no-install svc-sandbox`. Not in a sentence about this program, such as "svc-sandbox failed". */
const thisProgram = /(?<=: |\brun |mean |^)(?:npx --no-install )?\S*svc-sandbox\S*(?! failed| is )/;
/** For curl: `curl`, after a colon or first in a line. */
const curl = /(?<=: |^)curl/;
/** The rest of its part of the sentence: `` start --port 4747``, up to a comma, a semicolon or a period, or to the end of the line. */
const wordsAfterProgram = / .+?(?=, |\. |; |[.;?]?$)/;

const unquotedCommand = `(?:${thisProgram.source}|${curl.source})${wordsAfterProgram.source}`;
const command = new RegExp(`${quotedCommand.source}|${unquotedCommand}`, "g");

/** Stands for a space of a command: no line may end there. */
const unbreakableSpace = "\uE000";

/** Replaces the spaces of commands by a sign that breaks no line. */
export function joinCommands(text: string): string {
  return text.replace(command, (found) => found.replaceAll(" ", unbreakableSpace));
}

/** Puts the spaces of commands back. */
export function splitCommands(text: string): string {
  return text.replaceAll(unbreakableSpace, " ");
}
