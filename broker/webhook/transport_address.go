package webhook

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
)

// ErrRefusedAddress says that an endpoint's address is not a public one and not
// allowed by Options.AllowPrivate. Nothing was sent to it.
var ErrRefusedAddress = errors.New("address is refused")

// prefixes are ranges of addresses with what they are for.
type prefixes []struct{ prefix, kind string }

// special4 and special6 are what the IANA registries of special-purpose addresses
// (RFC 6890 and its successors) keep from the public Internet, and cloud
// platforms' own.
func special4() prefixes {
	return prefixes{
		{"0.0.0.0/8", "this network"},
		{"10.0.0.0/8", "private"},
		{"100.64.0.0/10", "shared by carriers"},
		{"127.0.0.0/8", "loopback"},
		{"168.63.129.16/32", "a cloud platform's"},
		{"169.254.0.0/16", "link-local"},
		{"172.16.0.0/12", "private"},
		{"192.0.0.0/24", "reserved for protocols"},
		{"192.0.2.0/24", "for documentation"},
		{"192.88.99.0/24", "a 6to4 relay"},
		{"192.168.0.0/16", "private"},
		{"198.18.0.0/15", "for benchmarks"},
		{"198.51.100.0/24", "for documentation"},
		{"203.0.113.0/24", "for documentation"},
		{"224.0.0.0/4", "multicast"},
		{"240.0.0.0/4", "reserved"},
	}
}

func special6() prefixes {
	return prefixes{
		{"::/128", "unspecified"},
		{"::1/128", "loopback"},
		{"64:ff9b::/96", "a NAT64 translation"},
		{"64:ff9b:1::/48", "a NAT64 translation"},
		{"2001::/23", "reserved for protocols"},
		{"2001:db8::/32", "for documentation"},
		{"2002::/16", "a 6to4 translation"},
		{"3fff::/20", "for documentation"},
		{"fc00::/7", "private"},
		{"fe80::/10", "link-local"},
		{"fec0::/10", "site-local"},
		{"ff00::/8", "multicast"},
	}
}

// global6 is all that is handed out for public use; what lies outside of it is
// reserved.
const global6 = "2000::/3"

func (ps prefixes) kind(a netip.Addr) string {
	for _, p := range ps {
		if netip.MustParsePrefix(p.prefix).Contains(a) {
			return p.kind
		}
	}
	return ""
}

// checkAddr returns an error that is ErrRefusedAddress unless a is public or
// allowed.
func checkAddr(a netip.Addr, allowed []netip.Prefix) error {
	a = a.Unmap()
	kind := addrKind(a)
	if kind == "" {
		return nil
	}
	for _, p := range allowed {
		// A zone is part of the way there, not of the address.
		if p.Contains(a.WithZone("")) {
			return nil
		}
	}
	return &refusal{what: a.String() + " is " + kind}
}

const refusalFix = "correct the URL, or allow its prefix in Options.AllowPrivate"

// refusal is an ErrRefusedAddress that says which and why.
type refusal struct{ what string }

func (e *refusal) Error() string {
	return ErrRefusedAddress.Error() + ": " + e.what + "; " + refusalFix
}

func (e *refusal) Unwrap() error { return ErrRefusedAddress }

// addrKind names what makes an address other than public, or returns "".
func addrKind(a netip.Addr) string {
	if a.Is4() {
		return special4().kind(a)
	}
	if kind := special6().kind(a.WithZone("")); kind != "" {
		return kind
	}
	if !netip.MustParsePrefix(global6).Contains(a.WithZone("")) {
		return "reserved"
	}
	return ""
}

// guard is a net.Dialer's ControlContext: it sees each address after resolution,
// just before connecting, so that a name that answers otherwise the second time
// gains nothing.
func guard(allowed []netip.Prefix) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return &refusal{what: "it is not an IP address and port"}
		}
		return checkAddr(ap.Addr(), allowed)
	}
}
