// Creates a consent request with an Idempotency-Key, and lists attestations in pages, with Go's net/http.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

var client = http.Client{Timeout: 4 * time.Second}

const consent = `{"farmer_id":"farmer_0123456789abcdef","purpose":{"code":"monitoring","text":"To follow a loan."},"permissions":["land"]}`

type answer struct {
	Data json.RawMessage
	Page struct{ Total int }
}

func ask(method, path, key, body, idempotencyKey string) (status int, read answer) {
	for attempt := 1; ; attempt++ {
		status, read, pause, err := once(method, path, key, body, idempotencyKey)
		if err == nil {
			return status, read
		}
		if attempt == 3 {
			fail("%s %s: %v", method, path, err)
		}
		if pause == 0 {
			pause = time.Duration(attempt) * 500 * time.Millisecond
		}
		time.Sleep(pause)
	}
}

func once(method, path, key, body, idempotencyKey string) (status int, read answer, pause time.Duration, err error) {
	request, err := http.NewRequest(method, os.Getenv("SVC_BASE_URL")+"/v1/relying-party"+path, bytes.NewBufferString(body))
	if err != nil {
		return
	}
	if key != "" {
		request.Header.Set("x-api-key", os.Getenv("SVC_KEY_"+key))
	}
	if body != "" {
		request.Header.Set("content-type", "application/json")
		request.Header.Set("idempotency-key", idempotencyKey)
	}
	response, err := client.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if status = response.StatusCode; err == nil && status >= 500 {
		return status, read, pauseOf(response.Header.Get("Retry-After")), fmt.Errorf("got %d", status)
	}
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	return
}

func pauseOf(retryAfter string) time.Duration {
	if seconds, err := strconv.Atoi(retryAfter); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(retryAfter); err == nil {
		return time.Until(date)
	}
	return 0
}

func fail(format string, values ...any) {
	fmt.Printf("Error: "+format+"\n", values...)
	os.Exit(1)
}

func check(what string, got, wanted any) {
	if got != wanted {
		fail("%s is %v, not %v", what, got, wanted)
	}
}

func main() {
	key := strconv.FormatInt(time.Now().UnixNano(), 36)
	for range [2]int{} {
		status, _ := ask("POST", "/consent-requests", "LENDING", consent, key)
		check("the created status", status, 201)
	}
	for offset, total := 0, 1; offset < total; offset++ {
		status, read := ask("GET", fmt.Sprintf("/attestations?limit=1&offset=%d", offset), "LENDING", "", "")
		check("the listed status", status, 200)
		total = read.Page.Total
	}
	for key, wanted := range map[string]int{"": 401, "MALFORMED": 401, "UNKNOWN": 401, "STATISTICS": 403} {
		status, _ := ask("GET", "/consent-requests/one", key, "", "")
		check("the status of "+key, status, wanted)
	}
}
