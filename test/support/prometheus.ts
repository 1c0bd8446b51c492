/** A sample of a metric: its value under its labels. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics of a text by their names. */
export type Metrics = ReadonlyMap<string, { readonly type: string; readonly samples: readonly Sample[] }>;

const name = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const head = new RegExp(`^# (HELP|TYPE) (${name}) (.+)$`);
const line = new RegExp(`^(${name})(?:\\{(.*)\\})? (\\S+)$`);
const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;
const types = ["counter", "gauge", "histogram", "summary"];

/**
 * Reads Prometheus' text format 0.0.4; throws on what `promtool check metrics` refuses, and on lines out of their place.
 *
 * Each metric begins with its help and its type and stands in one piece, no sample comes twice, and a histogram adds up.
 */
export function readMetrics(text: string): Metrics {
  if (!text.endsWith("\n")) throw new Error("the last line is not ended");
  const metrics = new Map<string, { type: string; samples: Sample[] }>();
  let helped = "";
  let current = "";
  for (const one of text.split("\n").filter((row) => row !== "")) {
    const [, kind, of = "", rest = ""] = head.exec(one) ?? [];
    if (kind === "HELP") helped = of;
    else if (kind === "TYPE") {
      if (of !== helped || metrics.has(of) || !types.includes(rest)) throw wrong(one);
      current = of;
      metrics.set(of, { type: rest, samples: [] });
    } else {
      const metric = metrics.get(current);
      const sample = readSample(one);
      const end = metric?.type === "histogram" ? "(?:_bucket|_sum|_count)" : "(?:_sum|_count)?";
      if (metric === undefined || !new RegExp(`^${current}${end}$`).test(sample.name)) throw wrong(one);
      metric.samples.push(sample);
    }
  }
  for (const [metric, { type, samples }] of metrics) check(metric, type, samples);
  return metrics;
}

function readSample(row: string): Sample {
  const [, of, list = "", value = ""] = line.exec(row) ?? [];
  if (of === undefined || !/^(?:[+-]?Inf|nan|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(value)) throw wrong(row);
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  let read = 0;
  for (let found = label.exec(list); found !== null; found = label.exec(list)) {
    const [whole, key = "", given = ""] = found;
    if (key in labels) throw wrong(row);
    labels[key] = given;
    read += whole.length;
    if (read === list.length) break;
  }
  if (read !== list.length) throw wrong(row);
  return { name: of, labels, value: Number(value.replace(/inf$/i, "Infinity")) };
}

function check(metric: string, type: string, samples: readonly Sample[]): void {
  const told = samples.map(({ name: of, labels }) => JSON.stringify([of, Object.entries(labels).sort()]));
  if (new Set(told).size !== told.length) throw new Error(`${metric} has a sample twice`);
  if (type === "counter" && samples.some(({ value }) => !(value >= 0)))
    throw new Error(`${metric} is below zero`);
  if (type !== "histogram") return;
  const seriesOf = ({ labels: { le: _, ...others } }: Sample) =>
    JSON.stringify(Object.entries(others).sort());
  for (const series of new Set(samples.map(seriesOf))) {
    const group = samples.filter((sample) => seriesOf(sample) === series);
    const buckets = group.filter(({ name: of }) => of === `${metric}_bucket`);
    const bounds = buckets.map(({ labels: { le = "" } }) => Number(le.replace("+Inf", "Infinity")));
    const count = group.find(({ name: of }) => of === `${metric}_count`)?.value;
    const adds = buckets.every(({ value }, i) => i === 0 || value >= (buckets[i - 1] as Sample).value);
    const rises = bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] as number));
    if (!adds || !rises || bounds.at(-1) !== Number.POSITIVE_INFINITY || buckets.at(-1)?.value !== count) {
      throw new Error(`${metric} does not add up`);
    }
  }
}

function wrong(row: string): Error {
  return new Error(`not a line of the text format here: ${row}`);
}
