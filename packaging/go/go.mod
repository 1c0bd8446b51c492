module github.com/svc-sandbox/svc-sandbox/packaging/go

go 1.18
