/** Returns the place of the user's code that leads here, as `test/me.test.js:3:17`; `undefined` if there is none. */
export function callerOutside({ cwd }: NodeJS.Process): string | undefined {
  // The first line is the message, and the second one this function.
  const [, ownPlace = "", ...callers] = (new Error().stack ?? "").split("\n").map(placeInStack);
  const ownFolder = ownPlace.slice(0, ownPlace.lastIndexOf("/") + 1);
  for (const place of callers) {
    const isInPackage = /\/node_modules\//.test(place) || place.startsWith(ownFolder);
    if (place !== "" && !isInPackage) return place.replace(`${cwd()}/`, "");
  }
  return undefined;
}

/** The file, line and column of a line of a stack; empty if it has none. */
function placeInStack(frame: string): string {
  return /(?:file:\/\/)?((?:\/|[A-Za-z]:)[^()]+:\d+:\d+)\)?$/.exec(frame)?.[1] ?? "";
}
