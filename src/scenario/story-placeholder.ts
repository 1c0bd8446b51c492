/** What stands for an id in the path and the body of a story's request: `{farmer.0}`, `{consent.1}`, `{attestation.1}`. */
export const storyPlaceholder = /\{(farmer|consent|attestation)\.(\d{1,9})\}/g;
