// Sends a request to a fixed address: `intercepted <url> [own]`, with a transport of its own for `own`.
package main

import (
	"net/http"
	"os"
)

func main() {
	request, _ := http.NewRequest("GET", os.Args[1], nil)
	request.Header.Set("x-api-key", os.Getenv("SVC_API_KEY"))
	client := http.DefaultClient
	if len(os.Args) > 2 {
		client = &http.Client{Transport: &http.Transport{}}
	}
	if _, err := client.Do(request); err != nil {
		panic(err)
	}
}
