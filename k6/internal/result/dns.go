// SPDX-License-Identifier: AGPL-3.0-only

package result

// DNS is what queries through a proxy asked, and how many of them reached the authoritative server.
type DNS struct {
	Engine   string   `json:"engine"`
	Version  *string  `json:"version"`
	Protocol string   `json:"protocol"`
	Cache    bool     `json:"cache"`
	Rows     []DNSRow `json:"rows"`
}

// DNSRow is an operation. InFlight is nil in an open loop, Upstream for a control.
type DNSRow struct {
	Operation string       `json:"operation"`
	Via       string       `json:"via"`
	Names     string       `json:"names"`
	InFlight  *int64       `json:"in_flight"`
	Upstream  *DNSUpstream `json:"upstream"`
}

// DNSUpstream counts queries, warm-up included.
type DNSUpstream struct {
	Queries  int64 `json:"queries"`
	Expected int64 `json:"expected"`
}
