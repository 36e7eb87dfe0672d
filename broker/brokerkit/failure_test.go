package brokerkit_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

func TestErrorsNameTheAdapterAndSayWhatToDo(t *testing.T) {
	t.Parallel()
	f := adapter.TopicFailure(broker.Misconfigured, "the topic is missing", "create it")
	if f.Error() != "testbroker: the topic is missing; create it" {
		t.Errorf("the error is %q", f)
	}
	if r := brokerkit.Result(f); r.Outcome != broker.Misconfigured || r.Scope != broker.ScopeTopic || !errors.Is(r.Err, f) {
		t.Errorf("the result is %+v", r)
	}
	for _, f := range []*broker.Error{adapter.NotInTime(), adapter.NoAnswer(), adapter.Abandoned(), adapter.Lost()} {
		if !strings.HasPrefix(f.Error(), "testbroker: ") || !strings.Contains(f.Error(), "; ") {
			t.Errorf("the error is %q", f)
		}
	}
}

func TestAFailureBeforeSendingIsNotBlamedOnTheMessage(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[broker.Outcome]broker.Outcome{
		broker.Unknown: broker.Unavailable, broker.Rejected: broker.Unavailable, broker.Misconfigured: broker.Misconfigured, broker.NotSent: broker.NotSent,
	} {
		if got := brokerkit.NotSent(adapter.TopicFailure(outcome, "x", "y")); got.Outcome != want || got.Scope != broker.ScopeTopic {
			t.Errorf("%v becomes %v of scope %v", outcome, got.Outcome, got.Scope)
		}
	}
}

func TestAPanicInAnOptionFailsOnlyItsMessage(t *testing.T) {
	t.Parallel()
	if name, f := adapter.Ask("Options.Topic", func() string { return "a" }); name != "a" || f != nil {
		t.Errorf("it says %q, %v", name, f)
	}
	_, f := adapter.Ask("Options.Topic", func() string { panic("canary") })
	if f == nil || f.Outcome != broker.Rejected || !strings.Contains(f.Error(), "Options.Topic panicked") || strings.Contains(f.Error(), "canary") {
		t.Errorf("a panic is %v", f)
	}
}

func TestAProbeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var g brokerkit.CallGuard
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	err := adapter.Probe(ctx, &g, "server", func(context.Context) *broker.Error {
		cancel()
		<-release // a client that does not heed its context
		return nil
	})
	if broker.OutcomeOf(err) != broker.Unavailable {
		t.Errorf("without an answer it says %v", err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := g.Shut(over); !errors.Is(err, context.Canceled) {
		t.Errorf("Close does not wait for the probe that is left alone: %v", err)
	}
	close(release)
	if err := g.Shut(t.Context()); err != nil {
		t.Error(err)
	}
	if err := adapter.Probe(t.Context(), &g, "server", func(context.Context) *broker.Error { return nil }); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("after Close it says %v", err)
	}
	var open brokerkit.CallGuard
	if err := adapter.Probe(t.Context(), &open, "server", func(context.Context) *broker.Error { return nil }); err != nil {
		t.Errorf("a probe that found nothing wrong is %v", err)
	}
}

func TestURLsAreReadAndNeverQuoted(t *testing.T) {
	t.Parallel()
	list := brokerkit.URLs{Adapter: adapter, Example: "test://host:1", Schemes: []string{"test", "tests", "tls"}, Default: "test"}
	var hosts []string
	err := list.Each(" a , tests://user:hunter2@b:9,test://[::1]", func(u *url.URL) string {
		hosts = append(hosts, u.Scheme+" "+brokerkit.HostPort(u, 1))
		return ""
	})
	if err != nil || !slices.Equal(hosts, []string{"test a:1", "tests b:9", "test [::1]:1"}) {
		t.Errorf("read are %v, %v", hosts, err)
	}
	err = list.Each("test://:hunter2@:1,,http://x,test://h:0,test://h:70000,test://%zz,ok", func(*url.URL) string { return "is not wanted" })
	want := []string{
		"URL 1 names no host; write it as test://host:1", "URL 2 is empty", "URL 3 has a scheme that is not test, tests or tls",
		"URL 4 has a port that is not between 1 and 65535", "URL 5 has a port", "URL 6 cannot be read", "URL 7 is not wanted",
	}
	for _, words := range want {
		if !strings.Contains(fmt.Sprint(err), "testbroker: "+words) {
			t.Errorf("%q is not in %v", words, err)
		}
	}
	if strings.Contains(fmt.Sprint(err), "hunter2") {
		t.Error("the error quotes a password")
	}
	strict := brokerkit.URLs{Adapter: adapter, Example: "amqp://host", Schemes: []string{"amqp"}}
	if err := strict.Each("host", func(*url.URL) string { return "" }); err == nil {
		t.Error("a URL without a scheme is taken where none is the default")
	}
}

func TestAddressesAreReadAndNamedWhereTheyAreWrong(t *testing.T) {
	t.Parallel()
	all, err := adapter.Addresses("a:1, [::1]:2", "broker", "host:9092")
	if err != nil || !slices.Equal(all, []string{"a:1", "[::1]:2"}) {
		t.Errorf("read are %v, %v", all, err)
	}
	_, err = adapter.Addresses(",kafka://a:1,a,:1,a:0", "broker", "host:9092")
	for _, words := range []string{"broker 1 is empty; write it as host:9092", "broker 2 is a URL", "broker 3 has no port", "broker 4 names no host", "broker 5 has a port that"} {
		if !strings.Contains(fmt.Sprint(err), words) {
			t.Errorf("%q is not in %v", words, err)
		}
	}
}

func TestTLSIsSpokenWhereItIsAskedForOrGiven(t *testing.T) {
	t.Parallel()
	if brokerkit.ClientTLS(nil, false, "h") != nil {
		t.Error("TLS that nobody asked for")
	}
	if c := brokerkit.ClientTLS(nil, true, "h"); c == nil || c.ServerName != "h" || c.MinVersion != tls.VersionTLS12 {
		t.Errorf("asked for by the URL it is %+v", c)
	}
	given := &tls.Config{MinVersion: tls.VersionTLS13}
	if c := brokerkit.ClientTLS(given, false, "h"); c == given || c.ServerName != "h" || given.ServerName != "" || c.MinVersion != tls.VersionTLS13 {
		t.Errorf("given it is %+v", c)
	}
	if c := brokerkit.ClientTLS(&tls.Config{MinVersion: tls.VersionTLS12, ServerName: "other"}, true, "h"); c.ServerName != "other" {
		t.Errorf("a name that was given becomes %q", c.ServerName)
	}
	if !brokerkit.BadCertificate(fmt.Errorf("dial: %w", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}})) || brokerkit.BadCertificate(errors.New("x")) {
		t.Error("a certificate that is not trusted is not told from other errors")
	}
}
