module example.com/whoami

go 1.18

require github.com/svc-sandbox/svc-sandbox/packaging/go v0.2.0
