// A good client over Go's net/http: `client net-http <mistake>`. The mistake is none, a row of the variation table, or retry-401 or
// retry-429, which sends a rejected key three more times.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

var client = http.Client{Timeout: 2500 * time.Millisecond}

func send(key string) (*http.Response, []byte, error) {
	request, _ := http.NewRequest("GET", os.Getenv("SVC_BASE_URL")+"/v1/relying-party/me", nil)
	request.Header.Set("x-api-key", key)
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

func main() {
	mistake := os.Args[2]
	refs := []string{"ACTIVE", "REVOKED", "EXPIRED", "ORGANIZATION_INACTIVE", "RATE_LIMITED"}
	for at, status := range []int{200, 401, 401, 403, 429} {
		var response *http.Response
		var err error
		for left := 3; left >= 0; left-- {
			response, _, err = send(os.Getenv("SVC_KEY_" + refs[at]))
			if err == nil && mistake != fmt.Sprintf("retry-%d", response.StatusCode) {
				break
			}
		}
		isTrusting := mistake == "security_headers" && err == nil && status == 200 &&
			(response.Header.Get("Strict-Transport-Security") != "" || response.Header.Get("X-Frame-Options") != "")
		if err != nil || response.StatusCode != status || isTrusting {
			fmt.Println("did not expect", response, err)
			os.Exit(1)
		}
	}
}
