import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { redactEncoded } from "../../domain/redact.js";
import { stopwatch } from "../../library/real-time.js";
import { readNetwork } from "../../node/addresses.js";
import type { SelfService } from "../../server/http-server.js";
import { HttpRefusal } from "../refusals.js";

const day = 24 * 60 * 60_000;
/** The maximum number of counted addresses; above it, the address with the oldest instance is discarded. */
const mostAddresses = 10_000;

export type Callers = ReturnType<typeof createCallers>;

/** Makes the functions about callers. */
export function createCallers({
  trustHeader,
  trustProxies = ["127.0.0.0/8", "::1"],
}: Pick<SelfService, "trustHeader" | "trustProxies">) {
  const trusted = new BlockList();
  for (const text of trustProxies) {
    const network = readNetwork(text);
    if (network !== undefined) trusted.addSubnet(...network);
  }
  const isTrusted = (address = "") => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  return {
    /** Returns the address of a caller for counts: the last one that is not a trusted proxy's. */
    addressOf({ headers, socket: { remoteAddress = "" } }: IncomingMessage): string {
      const forwarded = String(headers["x-forwarded-for"] ?? "").split(",");
      const chain = [...forwarded.map((one) => one.trim()).filter(isIP), remoteAddress];
      const address = chain.reverse().find((one) => !isTrusted(one)) ?? remoteAddress;
      return networkOf(address);
    },
    /** Returns the name of a caller; `undefined` if no trusted proxy has set it. */
    nameOf({ headers, socket }: IncomingMessage): string | undefined {
      if (trustHeader === undefined) return undefined;
      const given = headers[trustHeader.toLowerCase()];
      const text = typeof given === "string" && isTrusted(socket.remoteAddress) ? given : "";
      // Node reads headers as Latin-1.
      const name = Buffer.from(text, "latin1").toString().replace(/\p{C}/gu, "").trim().slice(0, 200);
      return name === "" ? undefined : redactEncoded(name);
    },
    /** Whether callers of the page for partners must have a name. */
    needsName: trustHeader !== undefined,
  };
}

// The owner of an IPv6 address has its whole /64 network.
function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined || isIP(address) !== 6) return mapped ?? address;
  const [start = "", end] = address.split("::");
  const [head, tail] = [start.split(":"), end?.split(":") ?? []];
  const zeros = end === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array(Math.max(0, zeros)).fill("0"), ...tail].slice(0, 4).join(":");
}

/**
 * Returns a function that counts a new instance of an address, and returns a function that takes it back. It throws
 * `daily_limit_reached` above `most` in the last 24 hours.
 */
export function createDailyCount(most: number, now: () => number = stopwatch) {
  const times = new Map<string, readonly number[]>();
  return (address: string): (() => void) => {
    const recent = (times.get(address) ?? []).filter((time) => time > now() - day);
    if (recent.length >= most) {
      throw new HttpRefusal(
        "daily_limit_reached",
        `You have created ${most} sandboxes in the last 24 hours: use one of them, or try again tomorrow.`,
      );
    }
    times.delete(address);
    times.set(address, [...recent, now()]);
    if (times.size > mostAddresses) times.delete(times.keys().next().value as string);
    return () => void times.set(address, recent);
  };
}
