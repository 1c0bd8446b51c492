// A correct client whose property tests send one key a random number of times.
import { checkFive, me } from "./me.mjs";

await checkFive();
for (let left = Math.floor(Math.random() * Number(process.env.MOST ?? 6)); left > 0; left--) {
  await me("ACTIVE");
}
