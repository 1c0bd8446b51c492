import { base62From } from "../../domain/seed.js";
import { nodePlatform } from "../../node/platform.js";
import { type Counters, createCounters } from "../../world/counters.js";
import { describeCounts } from "../../world/state.js";
import type { Instance } from "../instances.js";
import type { InstanceReport } from "./entries.js";
import type { Registry } from "./registry.js";

/** Milliseconds between two reports. */
const reportTime = 1000;

/**
 * Collects a replica's reports on the instances that it serves: their use, and the requests that it appended to their logs.
 * The server's report counts these requests.
 */
export function createInstanceReports(
  registry: Registry,
  isOwn: () => boolean,
  append: (report: InstanceReport) => Promise<unknown>,
) {
  const name = base62From(nodePlatform.random, 8);
  const counted = createCounters();
  const used = new Map<string, Instance>();
  const erased = new Set<string>();
  let number = 0;
  /** Reports that may not be stored. They are sent again and count once. */
  let failed: InstanceReport[] = [];
  let sentAt = nodePlatform.stopwatch();

  const changeOf = ({ id, runtime }: Instance) => {
    const known = registry.get(id);
    const { name, seed } = runtime.world();
    return known?.name === name && known.seed === seed ? null : { name, seed };
  };
  const next = (): InstanceReport | undefined => {
    const counts = describeCounts(counted);
    const isCounted = counts.requests + counts.unread > 0;
    const begun = [...used.keys()].filter((id) => registry.get(id)?.source !== undefined);
    if (!isCounted && used.size === 0 && erased.size === 0) return undefined;
    number += 1;
    const report = {
      ...({ kind: "report", from: name, number, begun, erased: [...erased] } as const),
      used: Object.fromEntries(Array.from(used.values(), (one) => [one.id, changeOf(one)])),
      ...(isCounted && { counts }),
    };
    counted.clear();
    used.clear();
    erased.clear();
    return report;
  };
  const send = async (): Promise<void> => {
    sentAt = nodePlatform.stopwatch();
    const report = next();
    const reports = report === undefined ? failed : [...failed, report];
    failed = [];
    const keep = (one: InstanceReport) => (error: unknown) => {
      failed.push(one);
      throw error;
    };
    await Promise.all(reports.map((one) => append(one).catch(keep(one))));
  };
  return {
    /** Counts requests that this replica appended. */
    counters: {
      count(exchange, keys) {
        if (isOwn()) counted.count(exchange, keys);
      },
      countUnread() {
        if (isOwn()) counted.countUnread();
      },
    } satisfies Pick<Counters, "count" | "countUnread">,
    used: (instance: Instance) => void used.set(instance.id, instance),
    erased: (id: string) => void erased.add(id),
    /** Appends a report, if there is anything to report. */
    send,
    /** Like `send`, but at most once a second. */
    sendIfDue: async () => {
      if (nodePlatform.stopwatch() - sentAt >= reportTime) await send();
    },
  };
}
