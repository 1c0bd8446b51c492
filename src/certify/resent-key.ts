import { variableOf } from "../rules/api-key.js";
import { isFault, isSuccess } from "../rules/outcomes.js";
import type { Refusal, RunConditions } from "../runs/conditions.js";
import { whyHidden } from "./answers.js";
import type { Client } from "./client.js";
import { notMade, type Reason } from "./judgment.js";
import { whyNotJudged } from "./not-judged.js";
import { longestWait, minPasses } from "./plan.js";
import type { ResendKind } from "./resend-kinds.js";
import type { ClientRun, KeyRequest, SentKey } from "./run.js";
import { runVaried } from "./varied.js";

/** A request that gets this shows what comes when nothing is rejected that a client may send again. */
export const controlled = { as: "404.unknown_path" } as const;

/** A client that never gives up is ended after so many waits. */
const maxWaits = 6;

/** The requests with one key that are accepted without the conditions of a run, and whose responses the client has read. */
export const acceptedOf = ({ requests }: Pick<SentKey, "requests">): readonly KeyRequest[] =>
  requests.filter(({ outcome, isUnread }) => isSuccess(outcome) && !isUnread);

/** The key whose requests are rejected. */
export class ResentKey {
  readonly client: Client;
  readonly ref: string;
  /** Its variable, for sentences. */
  readonly variable: string;
  /** How many of its requests the plain run accepted. */
  readonly count: number;
  /** Whether the client's own tests give it faults. */
  readonly hasFaults: boolean;
  readonly sentOnce: Reason;

  constructor(sent: SentKey, client: Client) {
    this.client = client;
    this.ref = sent.key;
    this.variable = variableOf(sent.key);
    this.count = acceptedOf(sent).length;
    this.hasFaults = sent.requests.some(({ outcome }) => isFault(outcome));
    this.sentOnce = {
      why: `the plain run sent ${this.variable} once`,
      whatToDo: "Send it twice, in two tests.",
    };
  }

  acceptedIn({ sent }: ClientRun): readonly KeyRequest[] {
    return sent.filter(({ key }) => key === this.ref).flatMap(acceptedOf);
  }

  /** How many more than in the plain run were accepted. */
  more(run: ClientRun): number {
    return this.acceptedIn(run).length - this.count;
  }

  whyNotJudged(run: ClientRun): Reason | undefined {
    return whyNotJudged(this.client.plain, run, "hit");
  }

  reject(kind: ResendKind, change: Partial<Refusal> = {}, time = 1): Promise<ClientRun | undefined> {
    const { as = kind.as } = change;
    const { seconds, asDate } = kind;
    const timed = as === kind.as && { ...(seconds !== undefined && { seconds }), ...(asDate && { asDate }) };
    const isMinute = kind.when === "too_soon" && seconds === undefined;
    const wait = (isMinute ? 61_000 : longestWait) * (change.refusesAfter ? maxWaits : 1);
    return this.client.run(
      kind.name,
      { refusal: { key: this.ref, as, ...timed, ...change } },
      { wait, time },
    );
  }

  whyUnequal(runs: readonly ClientRun[]): Reason | undefined {
    const counts = [0, ...runs.map((run) => this.more(run))];
    const least = this.count + Math.min(...counts);
    const most = this.count + Math.max(...counts);
    if (least === most) return undefined;
    return {
      why: `the runs sent ${this.variable} ${least} to ${most} times, although nothing was rejected`,
      whatToDo: "Send it equally often in each run, without what sends it in the background.",
    };
  }

  /** Why the key may come more often by itself, or because a runner repeats failing tests. A proof starts, which takes more runs. */
  async whyUncertain(): Promise<Reason | undefined> {
    const { client } = this;
    client.expectMore(2 * minPasses);
    const { checks } = await runVaried(client);
    const usual = checks.length > 1 ? [] : Array.from({ length: minPasses }, (_, at) => 2 + at);
    const late = this.#lateOther();
    const runs = await Promise.all([
      ...usual.map((time) => client.run("plain", {}, { time })),
      ...(late === undefined ? [] : [client.run("resend", late, { wait: longestWait })]),
    ]);
    const ended = runs.flatMap((run) => run ?? []);
    return (ended.length < runs.length ? notMade : this.whyUnequal(ended)) ?? whyHidden(client);
  }

  /** Conditions with a late response to another key: what comes in between comes by itself. */
  #lateOther(): RunConditions | undefined {
    const outcomesOf = ({ requests }: SentKey) => requests.map(({ outcome }) => outcome);
    const { sent } = this.client.plain;
    const ofKey = sent.filter(({ key }) => key === this.ref).flatMap(outcomesOf);
    const outcome = sent.flatMap(outcomesOf).find((one) => !isFault(one) && !ofKey.includes(one));
    const then = { latency: "2s" } as const;
    return outcome && { faults: [{ then }], once: { outcome } };
  }
}
