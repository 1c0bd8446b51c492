#!/bin/sh
# Runs the tests with a sandbox: the program in SVC_SANDBOX_BIN, svc-sandbox on the PATH, or the package of npm.
set -- exec key-states --format brief --fail-on warning -- go test -count=1 ./... "$@"
if [ -n "$SVC_SANDBOX_BIN" ]; then exec "$SVC_SANDBOX_BIN" "$@"; fi
if command -v svc-sandbox > /dev/null; then exec svc-sandbox "$@"; fi
exec npx --no-install svc-sandbox "$@"
