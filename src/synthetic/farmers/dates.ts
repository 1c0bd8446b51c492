/** Milliseconds of a day. */
export const day = 86_400_000;

/** The day of an instant as `YYYY-MM-DD`, in UTC. */
export function dateOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

export function yearOf(instant: number): number {
  return new Date(instant).getUTCFullYear();
}

/** The beginning of a day that `dateOf` has written. */
export function instantOf(date: string): number {
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8)));
}
