/** A sample of a metric: its value under its labels. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics of a text by their names. */
export type Metrics = ReadonlyMap<string, { readonly type: string; readonly samples: readonly Sample[] }>;

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/** Reads Prometheus' text format; throws on a line without its metric or with NaN, and if a metric or a sample comes twice. */
export function readMetrics(text: string): Metrics {
  const metrics = new Map<string, { type: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current = "";
  for (const row of text.split("\n").filter((one) => one !== "" && !one.startsWith("# HELP "))) {
    const [, declared, type = ""] = /^# TYPE (\S+) (\w+)$/.exec(row) ?? [];
    const [, name = "", list = "", value] = line.exec(row) ?? [];
    const known = declared === undefined ? seen.has(`${name} ${list}`) : metrics.has(declared);
    if (
      known ||
      /^nan$/i.test(value ?? "") ||
      (declared === undefined && (current === "" || !name.startsWith(current)))
    )
      throw new Error(`not a line of the text format here: ${row}`);
    seen.add(`${name} ${list}`);
    if (declared === undefined) {
      const labels = Object.fromEntries(
        [...list.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key, of]) => [key, of]),
      );
      metrics
        .get(current)
        ?.samples.push({ name, labels, value: Number(value?.replace(/inf$/i, "Infinity")) });
    } else {
      current = declared;
      metrics.set(current, { type, samples: [] });
    }
  }
  return metrics;
}
