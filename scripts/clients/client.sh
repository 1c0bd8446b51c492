#!/bin/sh
# A good client over curl or wget: `client.sh <curl-retry|curl-loop|wget> <mistake>`. curl sends again after a 429 by itself,
# so that it is not asked for, except by the mistake retry-429. The mistake key-in-url sends the key in the URL as well, retry-401 sends a
# revoked key three times, and forever sends again until an outage ends. No mistakes are tests, which sends the revoked key three times,
# and all, with keys for more paths. PAUSE is the time before each check in seconds, and AT_ONCE runs them together.
url="$SVC_BASE_URL/v1/relying-party/me"
all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT

send() {
  seen=$(mktemp -d "$all/XXXXXX")
  if [ "$mistake" = key-in-url ]; then url="$SVC_BASE_URL/v1/relying-party/me?key=$1"; fi
  case $how in
    curl-retry) curl -sS -m 2.5 --retry 3 --retry-max-time 9 --retry-all-errors -D "$seen/head" -o "$seen/body" -H "x-api-key: $1" "$url" ;;
    curl-loop) curl -sS -m 2.5 -D "$seen/head" -o "$seen/body" -H "x-api-key: $1" "$url" ;;
    # It exits with 6 after a 401, whose body it throws away, and with 8 after any other failure.
    wget) wget -q -S -t 1 -T 2 --content-on-error -o "$seen/head" -O "$seen/body" --header "x-api-key: $1" "$url"
      case $? in 0 | 8) ;; 6) echo null > "$seen/body" ;; *) return 1 ;; esac ;;
  esac
}

ask() {
  sleep "${PAUSE:-0}"
  for attempt in $attempts; do
    send "$1" && ! grep -q "HTTP/1.1 5" "$seen/head" && python3 -m json.tool "$seen/body" > /dev/null || continue
    if [ "$mistake" = retry-401 ] && grep -q "HTTP/1.1 401" "$seen/head"; then send "$1"; send "$1"; fi
    grep -q "HTTP/1.1 $2" "$seen/head" && return
    exit 1
  done
  exit 1
}

check() {
  ask "$1" "$2"
  case "$mistake $2" in
    "unknown_headers 200") if grep -qiE 'server-timing|x_upstream|x-debug' "$seen/head"; then exit 1; fi ;;
    "security_headers 200") if grep -qiE 'strict-transport|x-frame' "$seen/head"; then exit 1; fi ;;
    "request_id_on_errors 401") if grep -qi x-request-id "$seen/head"; then exit 1; fi ;;
  esac
}

how=$1
mistake=$2
attempts="1 2 3"
# Only curl itself sends again then.
if [ "$mistake" = retry-429 ]; then attempts=1; fi
if [ "$mistake" = forever ]; then attempts=$(seq 1000); fi
checks="$SVC_API_KEY 200 $SVC_KEY_EXPIRED 401 $SVC_KEY_WRONG_SCOPE 403 $SVC_KEY_ORGANIZATION_INACTIVE 403 $SVC_KEY_REVOKED 401"
case $mistake in
  tests) checks="$checks $SVC_KEY_REVOKED 401 $SVC_KEY_REVOKED 401" ;;
  retry-429) checks="$checks $SVC_KEY_RATE_LIMITED 429" ;;
  all) checks="$checks $SVC_KEY_LEGACY 200 $SVC_KEY_LIVE 200 $SVC_KEY_RETIRING 200 $SVC_KEY_ROTATED 401 $SVC_KEY_UNKNOWN 401 $SVC_KEY_LIVE_SUSPENDED 403" ;;
esac
jobs=
set -- $checks
while [ $# -gt 0 ]; do
  if [ -n "${AT_ONCE:-}" ]; then
    (check "$1" "$2") &
    jobs="$jobs $!"
  else
    check "$1" "$2"
  fi
  shift 2
done
for job in $jobs; do wait "$job" || exit 1; done
exit 0
