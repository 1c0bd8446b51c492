import { jsonServer } from "./json-server.js";
import { mockoon } from "./mockoon.js";
import { mountebank } from "./mountebank.js";
import { msw } from "./msw.js";
import type { Peer } from "./peer.js";
import { prism } from "./prism.js";
import { sandbox } from "./sandbox.js";
import { wiremock } from "./wiremock.js";

/** All that are measured, in the order of the table. */
export const peers: readonly Peer[] = [sandbox, wiremock, mountebank, msw, mockoon, jsonServer, prism];
