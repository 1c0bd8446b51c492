/** What was done, by its name. */
export interface Figures {
  readonly count: (name: string, by?: number) => void;
  /** Something that must not happen; `what` is told once with its number, and the details of the first ones. */
  readonly fail: (what: string, detail?: unknown) => void;
  readonly counts: () => ReadonlyMap<string, number>;
  readonly failures: () => readonly string[];
  /** One line with everything that was counted. */
  readonly line: () => string;
}

const mostDetails = 5;

export function createFigures(): Figures {
  const counts = new Map<string, number>();
  const failed = new Map<string, string[]>();
  return {
    count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
    fail(what, detail = "") {
      const details = failed.get(what) ?? [];
      const at = `at ${(performance.now() / 1000).toFixed(1)} s: `;
      details.push(details.length < mostDetails ? at + String(detail).slice(0, 1000) : "");
      failed.set(what, details);
    },
    counts: () => counts,
    failures: () =>
      [...failed].map(([what, details]) => {
        const shown = details.slice(0, mostDetails).filter((detail) => detail !== "");
        return [`${what} (${details.length} times)`, ...shown].join("\n    ");
      }),
    line: () => [...counts].map(([name, count]) => `${name} ${count}`).join(", "),
  };
}
