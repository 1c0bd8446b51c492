import { type Environment, environments } from "../../domain/api-key.js";
import type { RandomStream } from "../../domain/seed.js";
import type { ApiRequest } from "../../history/exchange.js";
import { nodePlatform } from "../../node/platform.js";
import { secretFrom } from "../../scenario/generated-values.js";
import { newInstanceId } from "../instances.js";
import { type ControlCall, newSecret } from "../log.js";
import type { EntryContent, NewKeyHashes } from "./entries.js";
import { maskRequest } from "./mask.js";
import type { OwnPart } from "./sandbox-copy.js";

/** Returns the entry of a request. */
export function contentOf(request: ApiRequest): EntryContent {
  return { kind: "request", request: maskRequest(request, nodePlatform.sha256) };
}

/** Returns the entry of a call, and this replica's own part. */
export function callContent({ makes, ...call }: ControlCall): {
  readonly content: EntryContent;
  readonly own: OwnPart;
} {
  if (makes === "instance" || makes === "token") {
    const newSecrets = [newSecret(), newSecret()];
    const hashes = newSecrets.map(({ sha256 }) => sha256);
    return {
      content: { kind: "call", call, newId: newInstanceId(), newSecrets: hashes },
      own: { newSecrets },
    };
  }
  if (makes !== "key") return { content: { kind: "call", call }, own: {} };
  const { newKey, words } = drawKey();
  return { content: { kind: "call", call, newKey }, own: { keyWords: words() } };
}

// Draws the random numbers of a key. Other replicas get the hashes for both environments, since the call decides later.
function drawKey(): { readonly newKey: NewKeyHashes; readonly words: () => RandomStream } {
  const drawn: number[] = [];
  const words = (): RandomStream => {
    let next = 0;
    return () => {
      if (next === drawn.length) drawn.push(nodePlatform.random());
      next += 1;
      return drawn[next - 1] as number;
    };
  };
  const hashIn = (environment: Environment) =>
    nodePlatform.sha256(secretFrom(words(), { environment, legacy: false }));
  const hashes = environments.map((environment) => [environment, hashIn(environment)]);
  return { newKey: Object.fromEntries(hashes), words };
}
