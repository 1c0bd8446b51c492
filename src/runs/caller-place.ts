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
    if (place !== "" && !isInPackage) return place.replace(`${withSlashes(cwd())}/`, "");
  }
  return undefined;
}

/**
 * The file, line and column of a line of a stack, with slashes; empty if it has none. As in "/home/a b/me.test.js:3:17" for
 * "at test (file:///home/a%20b/me.test.js:3:17)".
 */
function placeInStack(frame: string): string {
  const [, scheme, place = ""] =
    /(?:^|[\s(])(file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^()]+:\d+:\d+)\)?$/.exec(frame) ?? [];
  if (scheme === undefined) return withSlashes(place);
  // As in "/C:/tests/me.test.js", which a path has without its first slash.
  return decodeURIComponent(place).replace(/^\/(?=[A-Za-z]:)/, "");
}

function withSlashes(path: string): string {
  return path.replaceAll("\\", "/");
}
