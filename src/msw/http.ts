import { usersPackage } from "../library/users-package.js";

/** The `http` of the user's msw. */
export const { http } = await usersPackage(
  { entry: "svc-sandbox/msw", name: "msw", since: "2.0" },
  () => import("msw"),
  (msw) => ("http" in msw ? undefined : "an older one"),
);
