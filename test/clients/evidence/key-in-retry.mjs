// A client that prints its key when it sends a request again.
import { checkFive, sendOnce } from "./me.mjs";

await checkFive(async function send(ref, tries = 3) {
  try {
    const reply = await sendOnce(ref);
    if (reply.response.status < 500 || tries === 1) return reply;
  } catch (error) {
    if (tries === 1) throw error;
  }
  process.stdout.write(`again with ${process.env[`SVC_KEY_${ref}`]}\n`);
  return send(ref, tries - 1);
});
