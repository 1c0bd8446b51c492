#!/bin/sh
# A good client over curl or wget: `client.sh <curl-retry|curl-loop|wget> <mistake>`. curl sends again after a 429 by itself,
# so that it is not asked for, except by the mistake retry-429. The mistake key-in-url sends the key in the URL as well.
url="$SVC_BASE_URL/v1/relying-party/me"
seen=$(mktemp -d)
trap 'rm -rf "$seen"' EXIT

send() {
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
  for attempt in $attempts; do
    send "$1" && grep -q "HTTP/1.1 $2" "$seen/head" && python3 -m json.tool "$seen/body" > /dev/null && return
  done
  exit 1
}

how=$1
mistake=$2
attempts="1 2 3"
# Only curl itself sends again then.
if [ "$mistake" = retry-429 ]; then attempts=1; fi
ask "$SVC_API_KEY" 200
if [ "$2" = unknown_headers ] && grep -qiE 'server-timing|x_upstream|x-debug' "$seen/head"; then exit 1; fi
if [ "$2" = security_headers ] && grep -qiE 'strict-transport|x-frame' "$seen/head"; then exit 1; fi
ask "$SVC_KEY_EXPIRED" 401
ask "$SVC_KEY_WRONG_SCOPE" 403
ask "$SVC_KEY_ORGANIZATION_INACTIVE" 403
ask "$SVC_KEY_REVOKED" 401
if [ "$2" = retry-429 ]; then ask "$SVC_KEY_RATE_LIMITED" 429; fi
if [ "$2" = request_id_on_errors ] && grep -qi x-request-id "$seen/head"; then exit 1; fi
exit 0
