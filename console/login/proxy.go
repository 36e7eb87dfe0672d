package login

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// ProxyHeaders say in which headers a proxy says who asks. They count only in requests from Options.Proxies.
type ProxyHeaders struct {
	// User is the header with the name. Empty: no proxy vouches for anybody.
	User string
	// Groups is the header with the groups, with commas between. Empty: there are none.
	Groups string
}

// peer is the address of the other end of the connection; the zero value if it has none.
func peer(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return address.Unmap().WithZone("")
}

// isProxy says whether an address is one of the proxies.
func (l *Login) isProxy(address netip.Addr) bool {
	for _, proxies := range l.o.Proxies {
		if proxies.Contains(address) {
			return true
		}
	}
	return false
}

// client is the address of who asks: behind proxies the last one of X-Forwarded-For that is no proxy.
func (l *Login) client(r *http.Request) netip.Addr {
	address := peer(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && l.isProxy(address); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if with, wrong := netip.ParseAddrPort(strings.TrimSpace(hops[i])); err != nil && wrong == nil { // some proxies write the port too
			hop, err = with.Addr(), nil
		}
		if err != nil {
			break // a proxy did not say it: what is before may be anybody's
		}
		address = hop.Unmap().WithZone("")
	}
	return address
}

// limitedAddress is what a limit counts an address as: who has an address of IPv6 has 2^64 of them.
func limitedAddress(address netip.Addr) string {
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			return network.String()
		}
	}
	return address.String()
}

var errHeaders = errors.New("the proxy says twice who asks; have it replace the headers that a browser sends")

// vouchedBy returns who asks by the word of a proxy; an empty name: it says nothing. From elsewhere the headers do not count.
func (l *Login) vouchedBy(r *http.Request) (name string, groups []string, err error) {
	if l.o.Headers.User == "" || !l.isProxy(peer(r)) {
		return "", nil, nil
	}
	users := r.Header.Values(l.o.Headers.User)
	var lists []string
	if l.o.Headers.Groups != "" {
		lists = r.Header.Values(l.o.Headers.Groups)
	}
	if len(users) > 1 || len(lists) > 1 {
		return "", nil, errHeaders
	}
	if len(users) == 0 || strings.TrimSpace(users[0]) == "" {
		return "", nil, nil
	}
	if len(lists) == 1 {
		for group := range strings.SplitSeq(lists[0], ",") {
			groups = append(groups, strings.TrimSpace(group))
		}
	}
	return strings.TrimSpace(users[0]), groups, nil
}
