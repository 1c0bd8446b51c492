import type { EventEmitter } from "node:events";
import { nodePlatform } from "../node/platform.js";
import type { SandboxState } from "../sandbox/sandbox.js";

// What one partner may cost the others.

type Unit = "bytes" | "milliseconds" | "count";

/** The limits of each instance; `--instance-limit NAME=VALUE` changes them. */
export const instanceLimits = {
  bytes: { usual: 8_000_000, unit: "bytes", what: "kept: its scenario, keys, records and journal" },
  scenario: {
    usual: 256_000,
    unit: "bytes",
    what: "in the text of a scenario, or another body of a call",
  },
  keys: { usual: 2000, unit: "count", what: "keys of a scenario, with its population" },
  time: {
    usual: 6000,
    unit: "milliseconds",
    what: "of processor time in this minute, or a sixth of its limit at once",
  },
  waiting: { usual: 16_000_000, unit: "bytes", what: "of responses that its clients have not read yet" },
} as const satisfies Readonly<Record<string, { usual: number; unit: Unit; what: string }>>;

export type LimitName = keyof typeof instanceLimits;
export type AccountLimits = Readonly<Record<LimitName, number>>;

/** The limits of a host, who may have changed some; on an open server, all callers are the host, and only what is kept has usual limits. */
export function accountLimits(changed: Partial<AccountLimits> = {}, isOpen = false): AccountLimits {
  const usual = Object.entries(instanceLimits).map(([name, row]) => [name, row.usual] as const);
  const open = isOpen && { time: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY };
  return { ...(Object.fromEntries(usual) as AccountLimits), ...open, ...changed };
}

/** A limit that a call has reached. */
export interface Excess {
  readonly limit: LimitName | "requests_per_minute";
  readonly amount: number;
  readonly max: number;
  /** Seconds. */
  readonly retryAfter: number;
}

/** Says the amount, the limit and the fix. */
export function sentenceOf({ limit, amount, max }: Omit<Excess, "retryAfter">): string {
  if (limit === "requests_per_minute")
    return `This sandbox accepts ${max} requests a minute for all its keys together. Its host set this limit; it is not a limit of the API or of your key.`;
  const { unit, what } = instanceLimits[limit];
  const amountText = (value: number) => inUnit(value, unit);
  return `This sandbox has ${amountText(amount)} ${what}; its host allows ${amountText(max)}, and can raise it with --instance-limit ${limit}=${amountText(2 * max).replace(" ", "")}.`;
}

export function limitText(name: LimitName): string {
  const { usual, unit } = instanceLimits[name];
  return inUnit(usual, unit).replace(" ", "");
}

function inUnit(value: number, unit: Unit): string {
  const rounded = (number: number) => `${Math.round(number * 10) / 10}`;
  if (unit === "milliseconds") return `${rounded(value / 1000)} s`.replace(" ", "");
  if (unit === "count") return `${value}`;
  return value < 1e6 ? `${Math.ceil(value / 1000)} kB` : `${rounded(value / 1e6)} MB`;
}

/** How much memory a key takes, and what a collection remembers of a creation and of a removed record. */
const bytesOfKey = 600;
const bytesRemembered = 216;

/** Estimates what a sandbox keeps, equal on every machine. */
export function bytesKept({ scenario, text = "", registry, records, history, faults }: SandboxState): number {
  const ofRecords = [...records.values()].map(
    ({ bytes, keys, removed }) => bytes + (keys.size + removed.size) * bytesRemembered,
  );
  const parts = [
    text.length,
    sizeOf(scenario),
    sizeOf(faults),
    registry.keys.size * bytesOfKey,
    history.bytes(),
  ];
  return [...ofRecords, ...parts].reduce((sum, bytes) => sum + bytes, 0);
}

const sizes = new WeakMap<object, number>();

// The document is the host's, and instances share it. Neither changes in place.
function sizeOf(value: object): number {
  const size = sizes.get(value) ?? JSON.stringify({ ...value, openapi: undefined }).length;
  sizes.set(value, size);
  return size;
}

const minute = 60_000;

/** The part of a minute's processor time that may be used at once: more would make the others wait for seconds. */
const burst = 1 / 6;

const inSeconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));

/** Not the passing time, which is longer on a busy machine. Too slow for each request, which is short. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Whose work this process measures now: inside of it, nothing is measured again. */
let isMeasured = false;

/** What an instance, or a sender whom no instance recognizes, has cost in its minute, which starts with its first request. */
export class Account {
  readonly #limits: AccountLimits;
  readonly #now: () => number;
  readonly #cpu: () => number;
  #since = Number.NEGATIVE_INFINITY;
  #calls = 0;
  #requests = 0;
  #ms = 0;
  /** Milliseconds of processor time that the passing time has not paid yet, and until when it has. */
  #debt = 0;
  #paidAt = 0;
  #waiting = 0;

  constructor(limits: AccountLimits, now: () => number = nodePlatform.stopwatch, cpu = processorTime) {
    this.#limits = limits;
    this.#now = now;
    this.#cpu = cpu;
  }

  /** Counts a call, and a request to the API against the limit of requests. */
  count(isRequest: boolean, ms = 0): void {
    this.#startMinute();
    this.#calls += 1;
    if (isRequest) this.#requests += 1;
    this.#spend(ms);
  }

  /** Runs the synchronous part of some work, and counts its time. */
  measure<Result>(work: () => Result): Result {
    if (isMeasured) return work();
    const started = this.#cpu();
    isMeasured = true;
    try {
      return work();
    } finally {
      isMeasured = false;
      this.#startMinute();
      this.#spend(this.#cpu() - started);
    }
  }

  /** Counts the bytes of a response as waiting until its client has read it or is gone. */
  hold(response: Pick<EventEmitter, "once" | "prependOnceListener">, bytes: number): void {
    let left = bytes;
    this.#waiting += bytes;
    const release = () => {
      this.#waiting -= left;
      left = 0;
    };
    // Before the next request of its connection starts.
    response.prependOnceListener("finish", release).once("close", release);
  }

  /** The limit that the next call would exceed; `requestsPerMinute` is the one of requests. */
  excess(requestsPerMinute = Number.POSITIVE_INFINITY): Excess | undefined {
    this.#startMinute();
    const { time, waiting } = this.#limits;
    if (this.#requests >= requestsPerMinute) {
      const retryAfter = inSeconds(this.#since + minute - this.#now());
      return { limit: "requests_per_minute", amount: this.#requests, max: requestsPerMinute, retryAfter };
    }
    this.#pay();
    const late = this.#debt - time * burst;
    if (late >= 0)
      return { limit: "time", amount: this.#ms, max: time, retryAfter: inSeconds((late * minute) / time) };
    if (this.#waiting < waiting) return undefined;
    return { limit: "waiting", amount: this.#waiting, max: waiting, retryAfter: 1 };
  }

  status() {
    this.#startMinute();
    return { calls: this.#calls, processorMs: Math.round(this.#ms), bytesWaiting: this.#waiting };
  }

  #spend(ms: number): void {
    this.#pay();
    this.#ms += ms;
    this.#debt += ms;
  }

  #pay(): void {
    const now = this.#now();
    this.#debt = Math.max(0, this.#debt - ((now - this.#paidAt) * this.#limits.time) / minute);
    this.#paidAt = now;
  }

  #startMinute(): void {
    const now = this.#now();
    if (now - this.#since < minute) return;
    [this.#since, this.#calls, this.#requests, this.#ms] = [now, 0, 0, 0];
  }
}

const maxSenders = 10_000;

/** The accounts of the instances of this process, and of the addresses of senders. */
export function createAccounts(limits: AccountLimits) {
  const ofSandboxes = new WeakMap<SandboxState, Account>();
  const ofSenders = new Map<string, Account>();
  return {
    limits,
    /** The limit that a sender has reached whom nothing has recognized. */
    excessOf(address = ""): Excess | undefined {
      return ofSenders.size === 0 ? undefined : ofSenders.get(networkOf(address))?.excess();
    },
    of(sandbox: SandboxState): Account {
      const account = ofSandboxes.get(sandbox) ?? new Account(limits);
      ofSandboxes.set(sandbox, account);
      return account;
    },
    /** Of what fails before a key or a token is recognized. */
    ofSender(address = ""): Account {
      const sender = networkOf(address);
      const account = ofSenders.get(sender) ?? new Account(limits);
      // A map has the order in which its names were set.
      ofSenders.delete(sender);
      ofSenders.set(sender, account);
      if (ofSenders.size > maxSenders) ofSenders.delete(ofSenders.keys().next().value as string);
      return account;
    },
  };
}

/** One sender may have all addresses of an IPv6 network. */
function networkOf(address: string): string {
  const isNetwork = address.includes(":") && !address.includes(".");
  return isNetwork ? address.split(":").slice(0, 4).join(":") : address;
}
