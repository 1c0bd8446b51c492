/** How the boundary of a field was determined. Not with the shape of farmers, which pages leave out. */
export const surveyMethods = ["driven", "surveyed", "auto-imagery", "manual"] as const;
