/**
 * Returns the place of the user's code that leads here, as `test/me.test.js:3:17`; `undefined` if there is none. `stack`: the lines of an
 * error that was made here.
 */
export function callerOutside(
  { cwd }: Pick<NodeJS.Process, "cwd">,
  stack: string = new Error().stack ?? "",
): string | undefined {
  // The first line is the message, and the second one this function.
  const [, ownPlace = "", ...callers] = stack.split("\n").map(placeInStack);
  const ownFolder = ownPlace.slice(0, ownPlace.lastIndexOf("/") + 1);
  for (const place of callers) {
    const isInPackage = /\/node_modules\//.test(place) || place.startsWith(ownFolder);
    if (place !== "" && !isInPackage) return withoutFolder(place, withSlashes(cwd()));
  }
  return undefined;
}

/** The place in a folder, or the whole place if it is in none of its folders. */
function withoutFolder(place: string, folder: string): string {
  return place.startsWith(`${folder}/`) ? place.slice(folder.length + 1) : place;
}

/**
 * The file, line and column of a line of a stack, with slashes; empty if it has none. As in "/home/a b/me.test.js:3:17" for
 * "at test (file:///home/a%20b/me.test.js:3:17)".
 */
function placeInStack(frame: string): string {
  // The place stands in parentheses after the name of a function, or else after "at". It is a URL, or a path such as "/home" or "C:\work".
  const [, place] =
    /(?:\(|\bat (?:async )?)((?:file:\/\/|\/|[A-Za-z]:[\\/]).+:\d+:\d+)\)?$/.exec(frame) ?? [];
  if (place === undefined) return "";

  if (!place.startsWith("file://")) return withSlashes(place);
  // As in "/C:/tests/me.test.js", which a path has without its first slash.
  return decodeURIComponent(place.slice("file://".length)).replace(/^\/(?=[A-Za-z]:)/, "");
}

function withSlashes(path: string): string {
  return path.replaceAll("\\", "/");
}
