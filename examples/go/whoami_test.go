// Tests of a client: put yours in place of whoami.
// Install: go mod edit -require=github.com/svc-sandbox/svc-sandbox/packaging/go@v1.0.0-next.1
//          go mod edit -replace=github.com/svc-sandbox/svc-sandbox/packaging/go=./node_modules/svc-sandbox/packaging/go
// Run:     SVC_SANDBOX_MIN_COVERAGE=80 go test ./whoami

// Package whoami has tests of a client: put yours in place of whoami.
package whoami

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"testing"
	"time"

	svcsandbox "github.com/svc-sandbox/svc-sandbox/packaging/go"
)

func TestMain(m *testing.M) { svcsandbox.Main(m) }

// Also if the folder has a scenario of its own.
var keyStates = svcsandbox.Scenario("key-states")

type answer struct {
	status int
	header http.Header
	Data   struct{ Scopes []string }
	Error  struct{ Code string }
}

// After a rejection it stops. After a 429 it waits and sends once more, if its caller can wait: a second 429, or a longer wait,
// is the day's limit, and it stops. After an outage it tries again, with pauses or when the API says.
func whoami(baseURL, key string, sleep func(time.Duration), canWait bool) (*answer, error) {
	for outages, limits := 0, 0; ; {
		got, err := ask(baseURL, key)
		switch {
		case (err != nil || got.status >= 500) && outages < 2:
			outages++
			sleep(timeToWait(got, time.Second<<outages))
		case err == nil && got.status == 429 && canWait && limits == 0 && timeToWait(got, time.Minute) <= 2*time.Minute:
			limits++
			sleep(timeToWait(got, time.Minute))
		default:
			return got, err
		}
	}
}

func ask(baseURL, key string) (*answer, error) {
	request, err := http.NewRequest("GET", baseURL+"/v1/relying-party/me", nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		request.Header.Set("x-api-key", key)
	}
	client := http.Client{Timeout: 3 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	got := &answer{status: response.StatusCode, header: response.Header}
	if err := json.NewDecoder(response.Body).Decode(got); err != nil {
		return nil, fmt.Errorf("the API returned %d without JSON: %w", response.StatusCode, err)
	}
	return got, nil
}

// Retry-After may be absent, a number of seconds, or a date.
func timeToWait(got *answer, usual time.Duration) time.Duration {
	if got == nil {
		return usual
	}
	header := got.header
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil {
		return time.Duration(seconds) * time.Second
	}
	then, err := http.ParseTime(header.Get("Retry-After"))
	now, _ := http.ParseTime(header.Get("Date"))
	if err != nil {
		return usual
	}
	return then.Sub(now)
}

func TestEachKey(t *testing.T) {
	for _, one := range []struct {
		ref, code string
		statuses  []int
	}{
		{"active", "", []int{200}},
		{"live", "", []int{200}},
		{"legacy", "", []int{200}},
		{"retiring", "", []int{200}},
		{"replacement", "", []int{200}},
		{"none", "unauthorized", []int{401}},
		{"malformed", "unauthorized", []int{401}},
		{"unknown", "unauthorized", []int{401}},
		{"revoked", "unauthorized", []int{401}},
		{"expired", "unauthorized", []int{401}},
		{"rotated", "unauthorized", []int{401}},
		{"wrong-scope", "insufficient_scope", []int{403}},
		{"live-not-approved", "live_access_not_approved", []int{403}},
		{"live-suspended", "live_access_not_approved", []int{403}},
		{"organization-inactive", "access_denied", []int{403}},
		{"rate-limited-minute", "", []int{429, 200}},
		{"rate-limited", "rate_limited", []int{429}},
	} {
		one := one
		t.Run(one.ref, func(t *testing.T) {
			t.Parallel()
			sandbox := svcsandbox.New(t, keyStates)
			// Moves the sandbox's clock instead of waiting.
			got, err := whoami(sandbox.BaseURL, sandbox.Key(one.ref), sandbox.Advance, one.ref != "rate-limited")
			if err != nil {
				t.Fatal(err)
			}
			// The specification leaves the code of a 429 open.
			if got.Error.Code != one.code && got.status != 429 {
				t.Errorf("got the code %q, want %q", got.Error.Code, one.code)
			}
			if statuses := sandbox.Statuses(one.ref); !reflect.DeepEqual(statuses, one.statuses) {
				t.Errorf("got %v, want %v", statuses, one.statuses)
			}
			if got.status == 200 && len(got.Data.Scopes) == 0 {
				t.Error("confirmed without scopes")
			}
		})
	}
}

func TestAReplacedKeyEndsWithItsOverlap(t *testing.T) {
	sandbox := svcsandbox.New(t, keyStates)
	sandbox.Advance(31 * time.Minute)
	if got, err := whoami(sandbox.BaseURL, sandbox.Key("retiring"), sandbox.Advance, true); err != nil || got.status != 401 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAKeyThatHasWorkedWorksInTheNextTest(t *testing.T) {
	sandbox := svcsandbox.New(t, keyStates)
	if got, err := whoami(sandbox.BaseURL, sandbox.Key("active"), sandbox.Advance, true); err != nil || got.status != 200 {
		t.Errorf("got %+v, %v", got, err)
	}
}
