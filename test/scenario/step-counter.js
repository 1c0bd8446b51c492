import { Session } from "node:inspector";
import { parentPort, workerData } from "node:worker_threads";

// Counts the blocks of code that run, as V8 does: on every machine the same. It has to start before the code is compiled.
const session = new Session();
session.connect();

function ask(method, parameters) {
  let reply;
  session.post(method, parameters, (error, result) => {
    if (error) throw new Error(error.message);
    reply = result;
  });
  return reply;
}

ask("Profiler.enable");
ask("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
const { parseScenario } = await import(`data:text/javascript,${encodeURIComponent(workerData)}`);

function attempt(text) {
  try {
    parseScenario(text);
  } catch (error) {
    if (error.problems === undefined) throw error;
  }
}

// What loads lazily, and what is cached, counts for no text.
attempt("version: 1\norganizations: { bank: { type: bank } }\n");
parentPort.on("message", (text) => {
  ask("Profiler.takePreciseCoverage");
  attempt(text);
  const counts = ask("Profiler.takePreciseCoverage").result.flatMap(({ functions }) =>
    functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)),
  );
  parentPort.postMessage(counts.reduce((sum, count) => sum + count, 0));
});
