package webhook

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag/broker"
)

func TestOnlyPublicAddressesAreConnectedTo(t *testing.T) {
	t.Parallel()
	refused := []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255",
		"127.0.0.1", "127.1.2.3", "168.63.129.16", "169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255",
		"192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1",
		"203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::2", "::7f00:1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:10::1", "2001:20::1", "2001:db8::1",
		"2002:7f00:1::", "2002:0808:0808::1", "3fff::1", "5f00::1", "4000::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fe80::1%eth0",
		"febf::1", "fec0::1", "feff::1", "ff02::1", "ff0e::1", "e000::1",
	}
	for _, text := range refused {
		if err := checkAddr(netip.MustParseAddr(text), nil); !errors.Is(err, ErrRefusedAddress) {
			t.Errorf("%s: %v", text, err)
		}
	}
	public := []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "168.63.129.15",
		"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
		"198.20.0.0", "223.255.255.255", "::ffff:8.8.8.8", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700:4700::1111", "2a00::1",
	}
	for _, text := range public {
		if err := checkAddr(netip.MustParseAddr(text), nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAllowPrivateAllowsItsPrefixesOnly(t *testing.T) {
	t.Parallel()
	allowed := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("::1/128")}
	for text, ok := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "127.0.0.1": false, "fe80::1%eth0": true, "::1": true, "::2": false, "fd00::1": false,
	} {
		if err := checkAddr(netip.MustParseAddr(text), allowed); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	everything := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for _, text := range []string{"127.0.0.1", "169.254.169.254", "fe80::1", "8.8.8.8"} {
		if err := checkAddr(netip.MustParseAddr(text), everything); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// bait listens wherever a URL below could lead to on this machine, and counts.
func bait(t *testing.T) (port string, taken *atomic.Int64) {
	t.Helper()
	taken = new(atomic.Int64)
	s := raw(t, func(s *rawServer, c net.Conn) {
		taken.Add(1)
		if s.whole(bufio.NewReader(c)) == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	})
	_, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, taken
}

// Ways to write an address that must not be reached. PORT is where the bait is.
const spellings = `
http://127.0.0.1:PORT/
http://127.0.0.1.:PORT/
http://127.0.0.2:PORT/
http://127.255.255.254:PORT/
http://127.1:PORT/
http://127.0.1:PORT/
http://2130706433:PORT/
http://0x7f000001:PORT/
http://0x7F.1:PORT/
http://0x7f.0x0.0x0.0x1:PORT/
http://0177.0.0.1:PORT/
http://0177.0.0.01:PORT/
http://017700000001:PORT/
http://00000177.00000000.00000000.00000001:PORT/
http://127.0.0.0x1:PORT/
http://127.0.0.1_:PORT/
http://0:PORT/
http://0x0:PORT/
http://0x:PORT/
http://0.0.0.0:PORT/
http://0.0:PORT/
http://00.00.00.00:PORT/
http://4294967295:PORT/
http://6425673729:PORT/
http://18446744073709551617:PORT/
http://[::1]:PORT/
http://[::]:PORT/
http://[0:0:0:0:0:0:0:1]:PORT/
http://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/
http://[::ffff:127.0.0.1]:PORT/
http://[::ffff:7f00:1]:PORT/
http://[::ffff:7f00:0001]:PORT/
http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/
http://[::127.0.0.1]:PORT/
http://[::7f00:1]:PORT/
http://[::ffff:0:127.0.0.1]:PORT/
http://[64:ff9b::127.0.0.1]:PORT/
http://[64:ff9b::7f00:1]:PORT/
http://[64:ff9b:1::7f00:1]:PORT/
http://[2002:7f00:1::]:PORT/
http://[2001:0:7f00:1::]:PORT/
http://[fe80::1%25lo]:PORT/
http://[::1%25lo]:PORT/
http://[::1%2525lo]:PORT/
http://[fd00:ec2::254]:PORT/
http://[ff02::1]:PORT/
http://①②⑦.⓪.⓪.①:PORT/
http://１２７.０.０.１:PORT/
http://127。0。0。1:PORT/
http://127．0．0．1:PORT/
http://127.0.0.%31:PORT/
http://%31%32%37.0.0.1:PORT/
http://localhost:PORT/
http://LOCALHOST:PORT/
http://LocalHost.:PORT/
http://ⓛocalhost:PORT/
http://evil.localhost:PORT/
http://loop4.test:PORT/
http://loop4.test.:PORT/
http://LOOP4.TEST:PORT/
http://loop6.test:PORT/
http://mapped.test:PORT/
http://zero.test:PORT/
http://private.test:PORT/
http://metadata.test:PORT/
http://carrier.test:PORT/
http://mixed.test:PORT/
http://1.test:PORT/
http://user:pass@127.0.0.1:PORT/
http://public.test@127.0.0.1:PORT/
http://public.test%40127.0.0.1:PORT/
http://127.0.0.1:PORT@127.0.0.1:PORT/
http://127.0.0.1:PORT#@public.test/
http://127.0.0.1:PORT?@public.test/
http://127.0.0.1:PORT\@public.test/
http://public.test\@127.0.0.1:PORT/
http:\\127.0.0.1:PORT\
http:127.0.0.1:PORT/
http:/127.0.0.1:PORT/
http:///127.0.0.1:PORT/
//127.0.0.1:PORT/
127.0.0.1:PORT
HTTP://127.0.0.1:PORT/
https://127.0.0.1:PORT/
ftp://127.0.0.1:PORT/
file:///etc/passwd
gopher://127.0.0.1:PORT/_x
unix:///var/run/docker.sock
dict://127.0.0.1:PORT/
http://127.0.0.1:0PORT/
http://127.0.0.1:+PORT/
http://127.0.0.1:99999/
http://127.0.0.1:-1/
http://169.254.169.254/latest/meta-data/
http://metadata.google.internal/
http://100.100.100.200/latest/meta-data/
http://168.63.129.16/
http://[fd00:ec2::254]/latest/meta-data/
http://192.168.0.1:PORT/
http://10.0.0.1:PORT/
http://172.16.0.1:PORT/
http://[fc00::1]:PORT/
`

func TestNoSpellingOfALoopbackAddressIsConnectedTo(t *testing.T) {
	t.Parallel()
	port, taken := bait(t)
	_, names := resolver(t, map[string][][]netip.Addr{
		"localhost": {{netip.MustParseAddr("127.0.0.1")}}, "evil.localhost": {{netip.MustParseAddr("127.0.0.1")}},
		"loop4.test": {{netip.MustParseAddr("127.0.0.1")}}, "loop6.test": {{netip.MustParseAddr("::1")}},
		"mapped.test": {{netip.MustParseAddr("::ffff:127.0.0.1")}}, "zero.test": {{netip.MustParseAddr("0.0.0.0")}},
		"private.test": {{netip.MustParseAddr("10.0.0.1")}}, "metadata.test": {{netip.MustParseAddr("169.254.169.254")}},
		"metadata.google.internal": {{netip.MustParseAddr("169.254.169.254")}}, "carrier.test": {{netip.MustParseAddr("100.64.0.1")}},
		"mixed.test": {{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::1")}},
		"1.test":     {{netip.MustParseAddr("127.0.0.1")}}, "127.0.0.1_": {{netip.MustParseAddr("127.0.0.1")}},
	})
	lines := strings.Fields(spellings)
	if len(lines) < 60 {
		t.Fatalf("there are only %d spellings", len(lines))
	}
	for _, line := range lines {
		raw := strings.ReplaceAll(line, "PORT", port)
		for _, how := range []string{"URL", "URLFor"} {
			o := Options{Secrets: []string{secretA}, resolver: names}
			if how == "URL" {
				o.URL = raw
			} else {
				o.URLFor = func(broker.Delivery) (string, error) { return raw, nil }
			}
			d, err := New(o)
			if err != nil {
				continue
			}
			r := publish(t.Context(), d, sample())
			want(t, r, broker.Misconfigured)
			if how == "URL" {
				if err := d.Probe(t.Context()); broker.OutcomeOf(err) != broker.Misconfigured {
					t.Errorf("Probe of %s: %v", raw, err)
				}
				if !errors.Is(r.Err, ErrRefusedAddress) {
					t.Errorf("%s: %v", raw, r.Err)
				}
			}
			if err := d.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	}
	if n := taken.Load(); n != 0 {
		t.Errorf("%d connections reached this machine", n)
	}
}

// The bait is real: with its prefix allowed the same spellings reach it.
func TestALoopbackAddressIsReachedWhenAllowed(t *testing.T) {
	t.Parallel()
	port, taken := bait(t)
	_, names := resolver(t, map[string][][]netip.Addr{"loop4.test": {{netip.MustParseAddr("127.0.0.1")}}})
	for i, u := range []string{"http://127.0.0.1:PORT/", "http://[::ffff:127.0.0.1]:PORT/", "http://LOOP4.test:PORT/"} {
		o := options(strings.ReplaceAll(u, "PORT", port))
		o.resolver = names
		want(t, publish(t.Context(), open(t, o), sample()), broker.Accepted)
		if n := taken.Load(); n != int64(i+1) {
			t.Errorf("%s: %d connections", u, n)
		}
	}
}

// A name that is allowed when asked first and not when asked again gains nothing,
// as the address that is connected to is the one that was checked. Here one
// address of this machine stands for the outside and another for the inside.
func TestDNSRebindingReachesNoPrivateAddress(t *testing.T) {
	t.Parallel()
	outside, inside := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	s := raw(t, say("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", true))
	_, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var taken atomic.Int64
	// Where the system has no second loopback address the guard is the same, and
	// there is nothing to reach.
	if l, err := net.Listen("tcp", net.JoinHostPort(inside.String(), port)); err == nil {
		var running sync.WaitGroup
		running.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				taken.Add(1)
				_ = c.Close()
			}
		})
		t.Cleanup(func() {
			_ = l.Close()
			running.Wait()
		})
	}
	server, names := resolver(t, map[string][][]netip.Addr{
		"rebind.test": {{outside}, {inside}, {inside}, {outside}},
		"both.test":   {{inside, outside}},
	})
	for host, outcomes := range map[string][]broker.Outcome{
		"rebind.test": {broker.Accepted, broker.Misconfigured, broker.Misconfigured, broker.Accepted},
		"both.test":   {broker.Accepted, broker.Accepted},
	} {
		o := options("http://" + host + ":" + port)
		o.AllowPrivate = []netip.Prefix{netip.PrefixFrom(outside, 32)}
		o.resolver = names
		d := open(t, o)
		for _, outcome := range outcomes {
			want(t, publish(t.Context(), d, sample()), outcome)
		}
		if n := server.questions(host); n != len(outcomes) {
			t.Errorf("%s was resolved %d times, want %d", host, n, len(outcomes))
		}
	}
	if n := taken.Load(); n != 0 {
		t.Errorf("%d connections reached the inside", n)
	}
}

func TestNamesThatCannotBeResolvedAreUnavailable(t *testing.T) {
	t.Parallel()
	_, names := resolver(t, nil)
	o := options("http://nowhere.test/")
	o.resolver = names
	d := open(t, o)
	r := publish(t.Context(), d, sample())
	want(t, r, broker.Unavailable)
	if !strings.Contains(r.Err.Error(), "cannot be resolved") {
		t.Errorf("the error says %q", r.Err)
	}
}

func TestGuardRefusesUnixSockets(t *testing.T) {
	t.Parallel()
	if err := guard(nil)(t.Context(), "unix", "/var/run/docker.sock", nil); !errors.Is(err, ErrRefusedAddress) {
		t.Errorf("got %v", err)
	}
}

func FuzzTarget(f *testing.F) {
	for line := range strings.FieldsSeq(spellings) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		target, err := parseTarget(raw, nil)
		if err != nil {
			return
		}
		host, port, err := net.SplitHostPort(target.dial)
		if err != nil || port == "" || host == "" {
			t.Fatalf("%q would dial %q", raw, target.dial)
		}
		if addr, err := netip.ParseAddr(host); err == nil && checkAddr(addr, nil) != nil {
			t.Errorf("%q would dial %v", raw, addr)
		}
		if ip := net.ParseIP(strings.TrimSuffix(host, ".")); ip != nil && (ip.IsLoopback() || ip.IsPrivate()) {
			t.Errorf("%q would dial %v", raw, ip)
		}
		if u, err := url.Parse(target.url.String()); err != nil || u.Host != target.url.Host || target.url.User != nil {
			t.Errorf("%q became %v", raw, target.url)
		}
	})
}
