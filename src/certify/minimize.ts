/**
 * Returns a minimal failing part of the items: without any one of its items, the rest passes (delta debugging, Zeller).
 *
 * All items together must fail, and an empty list must pass. Tries groups in parallel, and stops with its current result after
 * `budget` tries.
 */
export async function minimize<Item>(
  items: readonly Item[],
  fails: (some: readonly Item[]) => Promise<boolean>,
  budget = 200,
): Promise<readonly Item[]> {
  let left = items;
  let parts = 2;
  let asked = 0;
  const firstThatFails = async (candidates: readonly (readonly Item[])[]) => {
    asked += candidates.length;
    const failing = await Promise.all(candidates.map(fails));
    return candidates[failing.indexOf(true)];
  };
  while (left.length > 1 && asked < budget) {
    const size = Math.ceil(left.length / parts);
    const chunks = Array.from({ length: Math.ceil(left.length / size) }, (_, i) =>
      left.slice(i * size, (i + 1) * size),
    );
    const chunk = await firstThatFails(chunks);
    if (chunk !== undefined) {
      left = chunk;
      parts = 2;
      continue;
    }
    // With two chunks, the complement of one is the other.
    const rests = parts === 2 ? [] : chunks.map((one) => left.filter((item) => !one.includes(item)));
    const rest = await firstThatFails(rests);
    if (rest !== undefined) {
      left = rest;
      parts = Math.max(2, parts - 1);
    } else if (parts >= left.length) break;
    else parts = Math.min(left.length, parts * 2);
  }
  return left;
}
