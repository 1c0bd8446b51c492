// A good client over Go's net/http: `client net-http <mistake>`. The mistake is none, a row of the variation table, retry-401 or
// retry-429 (sends a rejected key three more times), forever (sends again until an outage ends), or limits (expects 60 and 1,000). No
// mistakes are tests, which sends the revoked key three times, and all, with a key for each path. PAUSE is the time before each check in
// milliseconds, and AT_ONCE runs them together.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var client = http.Client{Timeout: 2500 * time.Millisecond}

func send(key string) (*http.Response, []byte, error) {
	request, _ := http.NewRequest("GET", os.Getenv("SVC_BASE_URL")+"/v1/relying-party/me", nil)
	if key != "" {
		request.Header.Set("x-api-key", key)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode >= 500 || !json.Valid(body)) {
		err = fmt.Errorf("got %d %s", response.StatusCode, body)
	}
	return response, body, err
}

func check(ref string, status int, mistake string) {
	pause, _ := strconv.Atoi(os.Getenv("PAUSE"))
	time.Sleep(time.Duration(pause) * time.Millisecond)
	var response *http.Response
	var body []byte
	var err error
	for left := 3; left >= 0 || mistake == "forever"; left-- {
		response, body, err = send(os.Getenv("SVC_KEY_" + ref))
		if err == nil && mistake != fmt.Sprintf("retry-%d", response.StatusCode) {
			break
		}
	}
	isTrusting := mistake == "security_headers" && err == nil && status == 200 &&
		(response.Header.Get("Strict-Transport-Security") != "" || response.Header.Get("X-Frame-Options") != "")
	var seen struct {
		Data struct {
			Limits struct {
				PerMinute int `json:"per_minute"`
				PerDay    int `json:"per_day"`
			}
		}
	}
	_ = json.Unmarshal(body, &seen)
	limits := seen.Data.Limits
	hasLimits := mistake != "limits" || status != 200 || (limits.PerMinute == 60 && limits.PerDay == 1000)
	if err != nil || response.StatusCode != status || isTrusting || !hasLimits {
		fmt.Println("did not expect", response, err)
		os.Exit(1)
	}
}

func main() {
	mistake := os.Args[2]
	refs := "200 ACTIVE 401 REVOKED 401 EXPIRED 403 ORGANIZATION_INACTIVE 429 RATE_LIMITED"
	switch mistake {
	case "tests":
		refs += " 401 REVOKED 401 REVOKED"
	case "all":
		refs += " 200 LEGACY 200 RETIRING 200 REPLACEMENT 200 LIVE 401 ROTATED 401 MALFORMED 401 UNKNOWN 401 NONE" +
			" 403 WRONG_SCOPE 403 LIVE_SUSPENDED 403 LIVE_NOT_APPROVED 429 RATE_LIMITED_MINUTE"
	}
	var group sync.WaitGroup
	words := strings.Fields(refs)
	for at := 0; at < len(words); at += 2 {
		status, _ := strconv.Atoi(words[at])
		ref := words[at+1]
		if os.Getenv("AT_ONCE") == "" {
			check(ref, status, mistake)
			continue
		}
		group.Add(1)
		go func() {
			defer group.Done()
			check(ref, status, mistake)
		}()
	}
	group.Wait()
}
