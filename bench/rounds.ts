import { type Bundle, type ClientReading, type ServerChild, startClient } from "./programs.js";

export interface BenchArguments {
  /** Whether to take fewer and shorter rounds: enough to see that the bench works, too few to trust. */
  readonly quick: boolean;
  /** The folder of a built earlier version, which is measured in turns with this one. Default: none. */
  readonly against?: string | undefined;
}

/** One round on each of two servers, close together, so that other work of the machine affects both. */
export type Round = Readonly<{ ours: ClientReading; theirs: ClientReading }>;

/** How many connections a load keeps open, with one request in progress on each. */
export const connections = 32;
const warmUpRounds = 2;

export function amountOf({ quick }: BenchArguments) {
  return quick ? { rounds: 3, requests: 5000 } : { rounds: 11, requests: 30_000 };
}

/** Loads two servers in turn. Stops them afterwards. */
export async function alternate(
  bundle: Bundle,
  { ours, theirs }: { readonly ours: ServerChild; readonly theirs: ServerChild },
  { rounds, requests }: ReturnType<typeof amountOf>,
): Promise<Round[]> {
  const client = startClient(bundle.client);
  // Both get the same requests, byte for byte, as far as their keys allow.
  const load = ({ port, keys }: ServerChild) => {
    const order = { connections, port, keys: keys.length > 0 ? keys : ours.keys, requests };
    return () => client.load(order);
  };
  const sides = { ours: load(ours), theirs: load(theirs) };
  const readings: Round[] = [];
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    const order = round % 2 === 0 ? (["ours", "theirs"] as const) : (["theirs", "ours"] as const);
    const reading: Partial<Record<keyof Round, ClientReading>> = {};
    for (const side of order) reading[side] = await sides[side]();
    if (round >= warmUpRounds) readings.push(reading as Round);
  }
  await Promise.all([client.stop(), ours.stop(), theirs.stop()]);
  return readings;
}
