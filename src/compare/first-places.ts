/** So many places are named at most: a server's response can have thousands. */
const mostNamed = 3;

/** Returns the places to name, and how many more there are. */
export function firstPlaces<Place>(places: readonly Place[]): {
  readonly named: readonly Place[];
  readonly more: number;
} {
  const named = places.slice(0, mostNamed);
  return { named, more: places.length - named.length };
}
