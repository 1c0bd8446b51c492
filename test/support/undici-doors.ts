import { fetch as fetchOfUndici, getGlobalDispatcher, setGlobalDispatcher } from "undici";
import { createDispatcher } from "../../src/integrations/undici.js";
import { clientOf, type Door, openSandbox } from "./doors.js";
import { isOfTheConnection, mePath, type Send, sendWithFetch, textOf } from "./send.js";

const base = "https://api.example";

/** The doors of `createDispatcher`: npm's undici by `request`, the others by a `fetch` of theirs. */
export const undiciDoors = {
  undici: doorTo("undici", sendWithRequest),
  fetches: [
    doorTo("undici's fetch", (dispatcher) =>
      sendWithFetch((url, init) => fetchOfUndici(url, { ...init, dispatcher } as never) as never, base),
    ),
    doorTo("Node's fetch", () => sendWithFetch(fetch, base)),
  ],
} as const;

type OurDispatcher = ReturnType<typeof createDispatcher>;

function doorTo(name: string, sender: (dispatcher: OurDispatcher) => Send): Door {
  return {
    name,
    async open(scenario, options) {
      const sandbox = openSandbox(scenario, options);
      const before = getGlobalDispatcher();
      const dispatcher = createDispatcher(sandbox);
      if (name === "Node's fetch") setGlobalDispatcher(dispatcher);
      return clientOf(sandbox, sender(dispatcher), async () => {
        setGlobalDispatcher(before);
        await dispatcher.close();
      });
    },
  };
}

function sendWithRequest(dispatcher: OurDispatcher): Send {
  return async ({ method = "GET", path = mePath, headers = {}, body = null }) => {
    // Names and values in turn, as several headers of one name go out.
    const list = Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().flatMap((one) => [name, one as string]),
    );
    const sent = { method: method as "GET", path, headers: list, body };
    const response = await dispatcher.request({ origin: base, ...sent, responseHeaders: "raw" });
    const raw = response.headers as unknown as readonly string[];
    const pairs = raw.flatMap((one, i) => (i % 2 === 0 ? [[String(one), String(raw[i + 1])] as const] : []));
    return {
      status: response.statusCode,
      headers: pairs.filter(([one]) => !isOfTheConnection(one)),
      body: textOf(await response.body.arrayBuffer()),
    };
  };
}
