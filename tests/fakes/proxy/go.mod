module windtunnel/fake-proxy

go 1.26
