module windtunnel/testbeds/naive-client

go 1.26

tool windtunnel/testbeds/naive-client

require (
	github.com/sagernet/sing v0.7.13
	golang.org/x/net v0.43.0
)

require (
	golang.org/x/sys v0.35.0 // indirect
	golang.org/x/text v0.28.0 // indirect
)
