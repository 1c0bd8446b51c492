import { runCall } from "../../src/server/control/routes/routes.js";
import { startReplica } from "./replicas.js";

// A replica as a process of its own, which a call of `endingCall` ends.

export const endingCall = "POST /end-the-process";

if (process.argv[2] !== undefined) {
  const { url } = await startReplica(process.argv[2], "key-states", {
    frozen: false,
    runCall: (call, place) => (call.route === endingCall ? process.exit(9) : runCall(call, place)),
  });
  process.stdout.write(`${url}\n`);
}
