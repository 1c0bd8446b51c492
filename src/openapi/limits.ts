/** What samples and requests may cost. */
export const documentLimits = {
  /** The parts and characters of a sample. */
  sample: 20_000,
  /** A sample of this many parts and characters gets no more optional members and items. */
  enough: 150,
  /** The work that one value may cause, in steps of up to 0.2 µs. A usual body of 64 kB needs a tenth. */
  steps: 300_000,
  /** The characters of a pattern. */
  pattern: 1000,
  /** The characters of a text whose format is checked: some formats take quadratic time. */
  formatted: 1000,
} as const;
