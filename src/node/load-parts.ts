/**
 * Reads the parts of the build that worlds read when they first need them, so that a server goes on when its package is
 * removed. The build fills it (`scripts/parts.ts`): here, nothing comes late.
 */
export function loadParts(): void {}
