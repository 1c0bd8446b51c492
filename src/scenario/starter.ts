/** The scenario that `svc-sandbox init` writes: valid as it stands, every field of the format shown or explained. */
export const starterScenario = `# yaml-language-server: $schema=https://unpkg.com/svc-sandbox/dist/scenario.schema.json
#
# One world for svc-sandbox: who calls the API, with which keys, and in which state they are.
#   svc-sandbox start svc-sandbox.yaml       serve it
#   svc-sandbox validate svc-sandbox.yaml    check it
# What you leave out is invented from the seed, the same way each time. Lines behind "#" show what else there is.

version: 1
name: My scenario
description: A bank with a key for every state that its software has to handle.
# extends: key-states          # start from a bundled scenario or another file, and write down only what differs
seed: 1                        # another seed gives other names, ids and keys

clock:
  now: 2026-03-02T09:00:00Z    # left out: the real time
  frozen: false                # true: the clock stands still until you move it

default_key: active            # left out: the first key

organizations:
  harvest-bank:                # a ref of your choice, in kebab-case
    name: Harvest Cooperative Bank
    # id: 3f0e8a52-6c1d-4b7e-9a04-5d2f8c7b1e60
    type: bank                 # bank | insurer
    status: active             # active | inactive (every key gets 403 access_denied)
    sandbox_access: true       # whether test keys can be created
    live_access: approved      # not_approved | approved | suspended (live keys get 403 unless approved)
    keys:
      active:                  # refs of keys are unique in the whole file
        environment: test      # test | live
        name: Core banking
        scopes: [attestations:read]
        limits: { per_minute: 60, per_day: 1000 }   # 0 answers 429 always
        # secret: SVC_test_...                      # pin the key itself
      live: { environment: live }
      wrong-scope: { environment: test, scopes: [consents:read] }
      nearly-used-up:
        environment: test
        usage: { this_minute: 59, today: 400 }      # the second request of this minute gets 429
      legacy: { environment: test, legacy: true }   # a key with the old prefix
      revoked: { environment: test, state: revoked }
      expired: { environment: test, expires: -1d }  # a time, or a duration from the clock's start: 90s, 10m, 2h, 7d
      retiring:                                     # replaced, but it still works until its overlap ends
        environment: test
        state: retiring
        replaced_by: replacement
        overlap_ends: 30m
      replacement: { environment: test }
      rotated: { environment: test, state: rotated, overlap_ends: -1h }   # replaced, and its overlap is over

# Who is there beside them, by number: organization-1 with organization-1-key-1 (test), organization-1-key-2 (live) …
# population:
#   organizations: 200          # every third one is an insurer
#   keys_per_organization: 3
#   farmers: 5000               # synthetic ones; without this line, 1000
#   locale: en                  # where they live: a language, or a locale such as en_GH; left out: everywhere
#   as_of: 2026-03-02T09:00:00Z # the day on which their dates hang; left out: when the clock starts

# What goes wrong between the client and the API. Of several faults the first one that hits a request counts.
# faults:
#   - when: { key: active, every: 10 }          # every tenth request with this key
#     then: { status: 503 }                     # 500 to 504, the API's error body; body: html for a gateway's page
#   - when: { organization: harvest-bank, path_id: 200.live, requests: [3, 4] }
#     then: { latency: { min: 100ms, max: 2s }, slow: 200 }     # the body at 200 bytes per second
#   - when: { probability: 0.05, after: 10m, until: 2h }
#     then: { reset: true }                     # or hang: true, truncate: true, malformed: true

# The announced endpoints, consent requests and attestations, as this project guesses them. Left out: unknown paths.
# preview: true
# consents:                                     # requests that there are when the clock starts
#   - organization: harvest-bank
#     farmer: 0                                 # by number; 0 grants, 1 refuses, 2 never answers, 3 grants and revokes
#     purpose: { code: credit_assessment, text: To assess an application for a loan. }
#     permissions: [identity, land]             # production, livestock, insurance, loans
#     created_at: -3d
#     expires_at: 87d
#     deeds: [{ at: -2d, do: revoke }]          # grant, reject, revoke, cancel
#     idempotency: { key: application-7 }       # the Idempotency-Key with which it was made
#   - { organization: harvest-bank, farmer: 2 } # the rest has defaults

# What happens by itself as the clock passes; each step does one thing.
# timeline:
#   - at: 10m                                   # a time, or a duration from the clock's start
#     rotate: { key: legacy, as: modern, overlap: 30m }
#   - at: 1h
#     organization: { ref: harvest-bank, live_access: suspended }     # or status, sandbox_access

# A script: "svc-sandbox play" tells it to an audience, "svc-sandbox verify" proves it. Each step says something, sends a
# request, lets time pass, or does what a timeline can do; expect is what has to come of it.
# story:
#   - say: A key that works, until an administrator revokes it.
#   - request: { key: active }                  # or none, malformed, unknown; left out: the default key
#     expect: { status: 200, path: 200.test, headers: { X-Request-Id: true }, body: { data: { usage: { today: 1 } } } }
#   - revoke: { key: active, actor: member }    # only administrators may
#     expect: { error: not_an_administrator }
#   - revoke: { key: active }
#   - request: { key: active, repeat: 2 }
#     expect: { status: 401, code: unauthorized, path: 401.revoked }
#   - create_key: { organization: harvest-bank, environment: test, name: Core banking, ref: fresh, expires: 30d }
#   - request: { key: fresh, method: POST, path: /v1/nothing, headers: { X-Trace: "1" }, body: { any: thing } }
#     expect: { path: 404.unknown_path }
#   - consent: { farmer: 2, do: grant, organization: harvest-bank }   # in the preview: grant, reject, revoke
#   - advance: 61m
#   - request: { key: legacy }
#     expect: { path: 401.rotated }

# What the sandbox does where the specification is silent; these are the defaults.
assumptions:
  profile: minimal                       # minimal | typical | varied
  rate_limit_code: rate_limited          # the error code of a 429
  request_id_on_errors: false            # whether errors carry X-Request-Id, too
  retry_after: none                      # on a 429: none | seconds | date
  rate_limit_headers: none               # none | draft (RateLimit) | legacy (X-RateLimit-*)
  error_details: false                   # whether a 403 and a 429 say more in error.details
  me_scope: attestations:read            # null: GET /v1/relying-party/me needs no scope
  scopes: [attestations:read, attestations:write, consents:read, consents:write]
  minute_window: fixed                   # fixed | sliding
  day_resets_at: 00:00                   # UTC
  count_refused: false                   # whether requests answered 401, 403 or 429 count
  retiring_counts_as_active: false       # whether a retiring key is one of the five active keys
  replacement_usage: fresh               # fresh | inherited: what a replacement starts with
  www_authenticate: false                # whether a 401 carries WWW-Authenticate
  default_expiry: none                   # how long keys made while the sandbox runs last: 90d, for example
`;
