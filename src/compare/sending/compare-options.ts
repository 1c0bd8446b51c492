import type { NoResponse, RawResponse } from "../../node/clients/send-once.js";
import type { Variables } from "../contract/key-variables.js";

export interface CompareOptions {
  readonly url: string;
  readonly env: Variables;
  /** Default: 60, and with `probeLimits` the requests of two minutes of a key more, up to 400. */
  readonly maxRequests?: number | undefined;
  readonly probeLimits: boolean;
  /** Milliseconds between two requests, for which `wait` is needed. Default: 0. */
  readonly pace?: number | undefined;
  /** Gets a sentence before a key's minute is used up, and before a wait for a limit. */
  readonly announce?: (sentence: string) => void;
  /** Waits for these milliseconds, or until `stop`. Default: nothing is waited for, and a limit ends the comparison. */
  readonly wait?: (milliseconds: number) => Promise<void>;
  /** A clock that never goes back, in milliseconds. */
  readonly now?: () => number;
  /** The time of the comparison, in milliseconds since 1970. Default: now. */
  readonly time?: number;
  /** Makes a well-formed but unknown key, another one each time; `index` counts the unknown keys from 0. */
  readonly unknownKey: (index: number) => string;
  /** Chooses the random order of the 401s. Default: 1. */
  readonly seed?: number;
  /** Ends the comparison with what it has, also during a request; its reason is the name of a signal. */
  readonly stop?: AbortSignal;
}

/** Sends a GET request to `/me` with a key, or without one for `undefined`; never throws. */
export type Send = (apiKey: string | undefined) => Promise<RawResponse | NoResponse>;
