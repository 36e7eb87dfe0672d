package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

func TestBadOptionsAreRefusedWithTheFix(t *testing.T) {
	t.Parallel()
	const secret = "whsec_" + "Y2FuYXJ5Y2FuYXJ5" // too short
	for name, c := range map[string]struct {
		change func(*Options)
		says   string
	}{
		"no URL":                       {func(o *Options) { o.URL = "" }, "set Options.URL or Options.URLFor"},
		"two URLs":                     {func(o *Options) { o.URLFor = func(broker.Delivery) (string, error) { return "", nil } }, "keep one"},
		"an invalid URL":               {func(o *Options) { o.URL = "http://canary:canary@x:y/" }, "cannot be parsed"},
		"a URL with a control":         {func(o *Options) { o.URL = "http://x/\r\ncanary" }, "cannot be parsed"},
		"a URL without a scheme":       {func(o *Options) { o.URL = "receiver.test/canary" }, "begin it with https://"},
		"a URL with another scheme":    {func(o *Options) { o.URL = "ws://receiver.test/canary" }, "begin it with https://"},
		"a URL without a host":         {func(o *Options) { o.URL = "https:///canary" }, "has no host"},
		"a URL that is opaque":         {func(o *Options) { o.URL = "https:canary" }, "has no host"},
		"a URL with a fragment":        {func(o *Options) { o.URL = "https://receiver.test/#canary" }, "'#'"},
		"a URL with an empty one":      {func(o *Options) { o.URL = "https://receiver.test/#" }, "'#'"},
		"a port of zero":               {func(o *Options) { o.URL = "https://receiver.test:0/canary" }, "1 and 65535"},
		"a port too high":              {func(o *Options) { o.URL = "https://receiver.test:65536/canary" }, "1 and 65535"},
		"a host that is not ASCII":     {func(o *Options) { o.URL = "https://grün.test/canary" }, "xn--"},
		"a host that is half a number": {func(o *Options) { o.URL = "https://127.1/canary" }, "192.0.2.1"},
		"a host with a bracket":        {func(o *Options) { o.URL = "https://]receiver.test/canary" }, "letters, digits"},
		"a host with a space":          {func(o *Options) { o.URL = "https://receiver%20.test/canary" }, "cannot be parsed"},
		"a host that is a zone":        {func(o *Options) { o.URL = "https://[canary::1]/" }, "cannot be parsed"},
		"a private address":            {func(o *Options) { o.URL = "https://10.0.0.1/canary" }, "AllowPrivate"},
		"no secret":                    {func(o *Options) { o.Secrets = nil }, "webhook.NewSecret"},
		"a secret too short":           {func(o *Options) { o.Secrets = []string{secretA, secret} }, "secret 2"},
		"a secret without prefix":      {func(o *Options) { o.Secrets = []string{"canarycanarycanarycanarycanarycanary"} }, "whsec_"},
		"a secret that is no base64":   {func(o *Options) { o.Secrets = []string{"whsec_canary*canary"} }, "base64"},
		"a content type with a break":  {func(o *Options) { o.ContentType = "a\r\ncanary: b" }, "ContentType"},
		"a header name with a break":   {func(o *Options) { o.Header = http.Header{"a\r\nb": {"x"}} }, "not an HTTP token"},
		"a header without a name":      {func(o *Options) { o.Header = http.Header{"": {"x"}} }, "not an HTTP token"},
		"a header of ours":             {func(o *Options) { o.Header = http.Header{"Webhook-Id": {"canary"}} }, "leave it out"},
		"another header of ours":       {func(o *Options) { o.Header = http.Header{"postbag-key": {"canary"}} }, "leave it out"},
		"the content type as header":   {func(o *Options) { o.Header = http.Header{"Content-Type": {"canary"}} }, "leave it out"},
		"a header of the connection":   {func(o *Options) { o.Header = http.Header{"Transfer-Encoding": {"canary"}} }, "leave it out"},
		"the host as header":           {func(o *Options) { o.Header = http.Header{"host": {"canary"}} }, "leave it out"},
		"a header value with a break":  {func(o *Options) { o.Header = http.Header{"X": {"canary\r\nY: z"}} }, "encode it"},
		"an empty header value":        {func(o *Options) { o.Header = http.Header{"X": {""}} }, "encode it"},
		"a negative timeout":           {func(o *Options) { o.Timeout = -1 }, "negative"},
		"a negative retry":             {func(o *Options) { o.MaxRetryAfter = -1 }, "negative"},
		"a negative concurrency":       {func(o *Options) { o.Concurrency = -1 }, "negative"},
		"an invalid prefix":            {func(o *Options) { o.AllowPrivate = []netip.Prefix{{}} }, "AllowPrivate"},
		"a prefix of mapped addresses": {func(o *Options) {
			o.AllowPrivate = []netip.Prefix{netip.MustParsePrefix("::ffff:10.0.0.0/104")}
		}, "AllowPrivate"},
		"a proxy that is no URL":        {func(o *Options) { o.Proxy = "http://canary:canary@:x" }, "Proxy"},
		"a proxy without a host":        {func(o *Options) { o.Proxy = "http://" }, "Proxy"},
		"a proxy with another scheme":   {func(o *Options) { o.Proxy = "ftp://canary@proxy.test" }, "Proxy"},
		"a proxy written as host alone": {func(o *Options) { o.Proxy = "proxy.test:3128" }, "Proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{URL: "https://receiver.test/in", Secrets: []string{secretA}}
			c.change(&o)
			d, err := New(o)
			if err == nil || d != nil {
				t.Fatal("it is taken")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %q, not %q", err, c.says)
			}
			if alone := o.Validate(); alone == nil || alone.Error() != err.Error() {
				t.Errorf("Validate says %v, New %v", alone, err)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("it quotes what may be secret: %v", err)
			}
		})
	}
}

func TestAllBadOptionsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := New(Options{
		URL: "x", Secrets: []string{"a", "b"}, ContentType: "\n", Header: http.Header{"Host": {"x"}}, Timeout: -1,
		AllowPrivate: []netip.Prefix{{}}, Proxy: "x",
	})
	for _, says := range []string{"URL:", "secret 1", "secret 2", "ContentType", "Host", "Timeout", "AllowPrivate", "Proxy"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s is missing in: %v", says, err)
		}
	}
}

func TestAPrivateURLIsRecognised(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{URL: "http://10.0.0.1", Secrets: []string{secretA}}); !errors.Is(err, ErrRefusedAddress) {
		t.Errorf("got %v", err)
	}
}

func TestDefaultsAreThoseDocumented(t *testing.T) {
	t.Parallel()
	s, err := Options{URL: "https://receiver.test", Secrets: []string{secretA}}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	if s.Timeout != 30*time.Second || s.MaxRetryAfter != time.Hour || s.Concurrency != 64 || s.ContentType != "application/json" {
		t.Errorf("got %v %v %v %v", s.Timeout, s.MaxRetryAfter, s.Concurrency, s.ContentType)
	}
	if s.target.dial != "receiver.test:443" || s.target.origin != "https://receiver.test" {
		t.Errorf("got %+v", s.target)
	}
}

func TestOptionsMayBeChangedAfterNew(t *testing.T) {
	t.Parallel()
	s := plain(t, nil)
	o := options(s.URL)
	o.Header = http.Header{"X-One": {"1"}}
	d := open(t, o)
	o.Header.Set("X-One", "2")
	o.Secrets[0] = secretB
	o.AllowPrivate[0] = netip.MustParsePrefix("10.0.0.0/8")
	want(t, publish(t.Context(), d, sample()), broker.Accepted)
	if got := s.request(0).Header.Get("X-One"); got != "1" {
		t.Errorf("X-One is %s", got)
	}
}

func TestNoFormatOfADestinationShowsSecrets(t *testing.T) {
	t.Parallel()
	o := options("http://user:canary@127.0.0.1:1/canary?canary")
	o.Secrets = []string{"whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5"}
	o.Header = http.Header{"Authorization": {"canary"}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, open(t, o)); strings.Contains(text, "canary") || text != "webhook http://127.0.0.1:1" {
			t.Errorf("%s is %q", format, text)
		}
	}
	o.URL, o.URLFor = "", func(broker.Delivery) (string, error) { return "", nil }
	if text := fmt.Sprint(open(t, o)); text != "webhook" {
		t.Errorf("got %q", text)
	}
}
