// SPDX-License-Identifier: AGPL-3.0-only

package connect

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"windtunnel/k6/internal/environment"
	"windtunnel/k6/internal/exit"
)

const (
	lookupPatience = 5 * time.Second
	dialPatience   = 2 * time.Second
	// mostAddresses is how many addresses of a name are tried at most.
	mostAddresses = 8
)

// reached is the result of trying the addresses of a name.
type reached struct {
	chosen  string // the first address that answers, else the first address; "" without an address
	pinned  bool   // k6 could otherwise take an address that does not answer
	tried   string // all addresses
	results string // all addresses, each with its result
}

// ip is the chosen address, or otherwise if there is no address.
func (r reached) ip(otherwise string) string { return cmp.Or(r.chosen, otherwise) }

// reach tries all addresses of a host. If a name has IPv4 addresses, k6 takes one of them, whether it answers or not.
func reach(host, port string) reached {
	if ip, err := netip.ParseAddr(host); err == nil {
		return reached{chosen: ip.String()}
	}
	all, err := addressesOf(host)
	if err != nil {
		return reached{results: err.Error()}
	}
	found := reached{chosen: all[0].String()}
	answers := map[netip.Addr]bool{}
	var tried, results []string
	for _, ip := range all {
		address := net.JoinHostPort(ip.String(), port)
		conn, err := net.DialTimeout("tcp", address, dialPatience)
		if err == nil {
			_ = conn.Close()
			answers[ip] = true
		}
		tried = append(tried, address)
		results = append(results, address+" "+outcomeOf(err))
	}
	found.tried, found.results = strings.Join(tried, ", "), strings.Join(results, ", ")
	if i := slices.IndexFunc(all, func(ip netip.Addr) bool { return answers[ip] }); i >= 0 {
		found.chosen = all[i].String()
		found.pinned = slices.ContainsFunc(ofK6(all), func(ip netip.Addr) bool { return !answers[ip] })
	}
	return found
}

func outcomeOf(err error) string {
	var timeout net.Error
	switch {
	case err == nil:
		return "answered"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused the connection"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "did not answer"
	}
	return exit.LastPart(err)
}

// addressesOf returns the addresses of a name, IPv4 first. For localhost it returns both loopback addresses, whatever
// the resolver answers.
func addressesOf(host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookupPatience)
	defer cancel()
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for i, ip := range all {
		all[i] = ip.Unmap()
	}
	if environment.IsLoopback(host) {
		all, err = append(all, netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()), nil
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, netip.Addr.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), mostAddresses)], nil
}

func ofK6(all []netip.Addr) []netip.Addr {
	if !all[0].Is4() {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(ip netip.Addr) bool { return !ip.Is4() })
}
