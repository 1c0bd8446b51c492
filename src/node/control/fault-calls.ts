import { describeFaults, type Fault } from "../../sandbox/faults.js";
import { operations } from "../../sandbox/operations/operations.js";
import type { World } from "../../sandbox/world.js";
import { inData } from "./answer-schemas.js";
import { type ControlCall, controlCall } from "./call.js";

/** What goes wrong between the client and the API. */
export const faultCalls: readonly ControlCall[] = [
  controlCall({
    method: "GET",
    path: "/faults",
    summary: "The faults in force; times in them are instants",
    status: 200,
    answer: inData.list("Fault"),
    run: ({ runtime }) => faultsView(runtime.world()),
  }),
  controlCall({
    method: "PUT",
    path: "/faults",
    summary: "Puts other faults in the place of those in force; durations in them count from now",
    body: "faults_change",
    status: 200,
    answer: inData.list("Fault"),
    run({ runtime, body }) {
      operations.faults(runtime.world(), body.faults as Fault[]);
      return faultsView(runtime.world());
    },
  }),
];

function faultsView({ faults }: World): unknown {
  return { data: describeFaults(faults) };
}
