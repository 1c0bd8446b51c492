/** How long the text of a consent request's purpose may be, in characters. */
export const longestPurpose = 500;
