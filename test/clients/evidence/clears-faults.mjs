// A suite that clears the faults before each test, and a client that does not connect again.
import { checkFive, control, sendOnce } from "./me.mjs";

await checkFive(async (ref) => {
  await control("PUT", "/faults", { faults: [] });
  return sendOnce(ref);
});
