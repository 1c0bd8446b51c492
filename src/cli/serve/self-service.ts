import { readNetwork } from "../../node/addresses.js";
import { isScenarioName } from "../../scenario/bundled.js";
import type { SelfService } from "../../server/http-server.js";
import { type FlagValues, flag, reader, separated, toggle, wholeNumber } from "../command.js";
import { usageError } from "../exit-codes.js";

export const selfServiceFlags = {
  selfService: toggle("--self-service", "serve a page at / where each partner creates an instance", {
    conflicts: ["control"],
  }),
  selfServiceOffer: flag(
    "--self-service-offer <names>",
    "the bundled scenarios that partners choose from; repeatable, or separated by commas (default: the scenario that is served)",
    separated(reader((text) => (isScenarioName(text) ? text : undefined), "the name of a bundled scenario")),
  ),
  selfServiceDaily: flag(
    "--self-service-daily <number>",
    "how many instances an address creates in 24 hours on that page (default: 5)",
    wholeNumber(1, 1_000_000),
  ),
  trustHeader: flag(
    "--trust-header <name>",
    "the header where a proxy sends the user's name, such as X-Forwarded-User: it becomes an instance's owner, and the page requires it",
    reader((text) => (/^[\w-]{1,100}$/.test(text) ? text : undefined), "the name of a header"),
  ),
  trustProxies: flag(
    "--trust-proxy <address>",
    "an address or a network of proxies whose --trust-header and X-Forwarded-For are used: 10.0.0.0/8; repeatable, or separated by commas (default: this machine)",
    separated(
      reader(
        (text) => readNetwork(text) && text,
        "an address such as 10.1.2.3, or a network such as 10.0.0.0/8",
      ),
    ),
  ),
};

/** Returns the offer to partners; throws `usage` for flags that need `--self-service`. */
export function selfServiceOf(flags: FlagValues<typeof selfServiceFlags>): SelfService | undefined {
  const {
    selfService,
    selfServiceOffer: scenarios,
    selfServiceDaily: daily,
    trustHeader,
    trustProxies,
  } = flags;
  if (selfService) return { scenarios, daily, trustHeader, trustProxies };
  const lonely = Object.entries({
    "--self-service-offer": scenarios,
    "--self-service-daily": daily,
    "--trust-header": trustHeader,
    "--trust-proxy": trustProxies,
  }).find(([, value]) => value !== undefined);
  if (lonely === undefined) return undefined;
  throw usageError(`${lonely[0]} requires --self-service.`);
}
