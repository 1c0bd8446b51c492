module example.com/whoami

go 1.18

require github.com/svc-sandbox/svc-sandbox/packaging/go v1.0.0-next.1
