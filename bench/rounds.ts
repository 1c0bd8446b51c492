import type { Bundle } from "./bundle.js";
import { type ServerChild, startClient } from "./children.js";
import type { ClientReading } from "./messages.js";

/** One round on each of two servers, close together, so that what else the machine does meets both. */
export interface Round {
  readonly ours: ClientReading;
  readonly theirs: ClientReading;
}

/** How many connections a load keeps open. */
export const connections = 32;
const warmUpRounds = 2;

interface Amount {
  readonly rounds: number;
  readonly requests: number;
  /** Default: 32 connections that stay open, one request under way on each. */
  readonly load?: { readonly connections: number; readonly streams?: number };
}

/** Loads two servers in turn. Stops them afterwards. */
export async function alternate(
  bundle: Bundle,
  servers: { readonly ours: ServerChild; readonly theirs: ServerChild },
  { rounds, requests, load: how = { connections } }: Amount,
): Promise<Round[]> {
  const client = startClient(bundle.client);
  const { ours, theirs } = servers;
  // Both get the same requests, byte for byte, as far as their keys allow.
  const keysOf = (server: ServerChild) => (server.keys.length > 0 ? server.keys : ours.keys);
  const load = (server: ServerChild) => () =>
    client.load({ ...how, port: server.port, keys: keysOf(server), requests });
  const readings = await takeTurns({ ours: load(ours), theirs: load(theirs) }, rounds);
  await Promise.all([client.stop(), ours.stop(), theirs.stop()]);
  return readings;
}

/** Runs two loads in turn: two rounds that warm up, then those that count. */
export async function takeTurns(
  { ours, theirs }: { readonly [side in keyof Round]: () => Promise<ClientReading> },
  rounds: number,
): Promise<Round[]> {
  const readings: Round[] = [];
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    // Who goes first alternates too.
    const oursFirst = round % 2 === 0;
    const first = await (oursFirst ? ours : theirs)();
    const second = await (oursFirst ? theirs : ours)();
    if (round < warmUpRounds) continue;
    readings.push(oursFirst ? { ours: first, theirs: second } : { ours: second, theirs: first });
  }
  return readings;
}
