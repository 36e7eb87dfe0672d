package natsbroker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// restricted starts a server with an administrator, who may do everything, and a
// user "limited" with these rights.
func restricted(t *testing.T, rights *server.Permissions) (s *natsServer, limited *nats.Conn) {
	t.Helper()
	s = startServer(t, func(o *server.Options) {
		o.Username, o.Password = "", ""
		o.Users = []*server.User{
			{Username: user, Password: password},
			{Username: "limited", Password: password, Permissions: rights},
		}
	})
	return s, connect(t, s.url(), nats.UserInfo("limited", password))
}

func TestASubjectThatIsDeniedIsMisconfiguredSoon(t *testing.T) {
	t.Parallel()
	s, limited := restricted(t, &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{"*.allowed", "$JS.API.>"}},
	})
	p := newPlace(t, s.connect(t)).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, limited), natsbroker.Options{}))
	msgs := publishtest.Messages(p.name+".allowed", 6)
	msgs[1].Topic, msgs[4].Topic = p.name+".denied", p.name+".denied"
	for range 3 {
		began := time.Now()
		results := publishtest.Publish(t, d, 20*time.Second, msgs...)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v to see the denial", took)
		}
		publishtest.Wants(t, []broker.Result{results[1], results[4]}, broker.Misconfigured, "forbids this user to publish")
		publishtest.Wants(t, []broker.Result{results[0], results[2], results[3], results[5]}, broker.Accepted, "")
	}
}

func TestAnEarlierPermissionErrorIsNotTakenForANewOne(t *testing.T) {
	t.Parallel()
	_, limited := restricted(t, &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"other"}}})
	if err := errors.Join(limited.Publish("orders.denied", nil), limited.Flush()); err != nil {
		t.Fatal(err)
	}
	if subject, denied := natsbroker.DeniedPublish(limited, nil); !denied || subject != "orders.denied" {
		t.Errorf("a denial since the beginning is %q, %v", subject, denied)
	}
	if subject, denied := natsbroker.DeniedPublish(limited, limited.LastError()); denied {
		t.Errorf("a denial of %q that was known before is taken for a new one", subject)
	}
}

func TestAnInboxThatIsDeniedIsMisconfigured(t *testing.T) {
	t.Parallel()
	s, limited := restricted(t, &server.Permissions{
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX_mine.>"}},
	})
	p := newPlace(t, s.connect(t)).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, limited), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.topic(), 2)...), broker.Misconfigured, "CustomInboxPrefix")
	if held := p.held(t); held != 0 {
		t.Errorf("%d messages were sent though no answer can come", held)
	}
	own := connect(t, s.url(), nats.UserInfo("limited", password), nats.CustomInboxPrefix("_INBOX_mine"))
	d = publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, own), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.topic(), 2)...), broker.Accepted, "")
}

// The least rights: to publish to the subject, and to an inbox. Nothing can be
// looked up then, and messages go all the same.
func TestAUserWhoMayOnlyPublishCanPublish(t *testing.T) {
	t.Parallel()
	s, limited := restricted(t, &server.Permissions{
		Publish:   &server.SubjectPermission{Deny: []string{"$JS.>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	})
	for _, named := range []bool{false, true} {
		p := newPlace(t, s.connect(t)).create(t, nil)
		options := natsbroker.Options{}
		if named {
			options.Stream = p.name
		}
		d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, limited), options))
		began := time.Now()
		publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.topic(), 20)...), broker.Accepted, "")
		if err := d.Probe(publishtest.Timeout(t, 20*time.Second)); err != nil {
			t.Errorf("Probe: %v", err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v to publish without looking up", took)
		}
		stream := ""
		if named {
			stream = p.name
		}
		if got := p.read(t)[0].Headers().Get("Nats-Expected-Stream"); got != stream {
			t.Errorf("Nats-Expected-Stream is %q, want %q", got, stream)
		}
		nowhere := newPlace(t, s.connect(t))
		if !named {
			publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(nowhere.topic(), 2)...), broker.Unavailable, "may not be looked up")
		}
	}
}

func TestAnAccountWithoutJetStreamIsMisconfigured(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *server.Options) {
		plain := server.NewAccount("PLAIN")
		o.Username, o.Password = "", ""
		o.Accounts = []*server.Account{plain}
		o.Users = []*server.User{{Username: user, Password: password, Account: plain}}
	})
	nc := s.connect(t)
	for name, options := range map[string]natsbroker.Options{"looked up": {}, "named": {Stream: "S"}} {
		d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), options))
		publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages("x.y", 2)...), broker.Misconfigured, "enable JetStream for the account")
		if got := broker.OutcomeOf(d.Probe(publishtest.Timeout(t, 20*time.Second))); got != broker.Misconfigured {
			t.Errorf("%s: the probe says %v", name, got)
		}
	}
}

func TestAnAccountAtItsLimitIsUnavailable(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *server.Options) {
		small := server.NewAccount("SMALL")
		o.Username, o.Password = "", ""
		o.Accounts = []*server.Account{small}
		o.Users = []*server.User{{Username: user, Password: password, Account: small}}
	})
	account, err := s.server.LookupAccount("SMALL")
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string]server.JetStreamAccountLimits{"": {MaxMemory: 1 << 20, MaxStore: 4 << 10, MaxStreams: -1, MaxConsumers: -1}}
	if err := account.EnableJetStream(limits, nil); err != nil {
		t.Fatal(err)
	}
	nc := s.connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	m := publishtest.Messages(p.topic(), 2)
	m[0].Payload = make([]byte, 3<<10)
	m[1].Payload = make([]byte, 3<<10)
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Accepted, "")
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m[1]), broker.Unavailable, "10002")
}

// Subjects that an account maps on their way are no stream's by their first name.
func TestMappedSubjectsReachTheStreamOfTheOptions(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *server.Options) {
		mapped := server.NewAccount("MAPPED")
		o.Username, o.Password = "", ""
		o.Accounts = []*server.Account{mapped}
		o.Users = []*server.User{{Username: user, Password: password, Account: mapped}}
	})
	account, err := s.server.LookupAccount("MAPPED")
	if err != nil {
		t.Fatal(err)
	}
	if err := account.EnableJetStream(nil, nil); err != nil {
		t.Fatal(err)
	}
	nc := s.connect(t)
	p := newPlace(t, nc).create(t, nil)
	if err := account.AddMapping("orders.>", p.name+".>"); err != nil {
		t.Fatal(err)
	}
	named := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{Stream: p.name}))
	publishtest.Wants(t, publishtest.Publish(t, named, 10*time.Second, publishtest.Messages("orders.created", 2)...), broker.Accepted, "")
	if got := p.read(t)[0].Subject(); got != p.name+".created" {
		t.Errorf("the message is stored as %q", got)
	}
}

func TestTheJetStreamDomainIsThatOfTheGivenJetStream(t *testing.T) {
	t.Parallel()
	nc := startServer(t, func(o *server.Options) { o.JetStreamDomain = "hub" }).connect(t)
	p := newPlace(t, nc).create(t, nil)
	js, err := jetstream.NewWithDomain(nc, "hub")
	if err != nil {
		t.Fatal(err)
	}
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(js, natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 2)...), broker.Accepted, "")

	if js, err = jetstream.NewWithDomain(nc, "elsewhere"); err != nil {
		t.Fatal(err)
	}
	d = publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(js, natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 2)...), broker.Unavailable, "JetStream does not answer")
}

func TestALoginThatIsRefusedIsMisconfiguredUntilItIsGranted(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *server.Options) { o.Password = "another" })
	d, err := natsbroker.Dial(t.Context(), s.url(), natsbroker.Options{Login: natsbroker.Login{User: user, Password: password}})
	if err != nil {
		t.Fatalf("Dial with a login that is refused: %v, want a destination that tries on", err)
	}
	publishtest.Closing(t, d)
	m := publishtest.Messages("P.made", 2)
	publishtest.Eventually(t, "misconfigured for the login", func() bool {
		r := publishtest.Publish(t, d, 10*time.Second, m...)[0]
		return r.Outcome == broker.Misconfigured && strings.Contains(r.Err.Error(), "the server refuses the login")
	})
	if got := broker.OutcomeOf(d.Probe(publishtest.Timeout(t, 10*time.Second))); got != broker.Misconfigured {
		t.Errorf("the probe says %v", got)
	}
	s.stop()
	s.options.Password = password
	s.start(t)
	newPlaceNamed(t, s.connect(t), "P").create(t, nil)
	publishtest.Eventually(t, "accepted once the password is right", func() bool {
		return publishtest.Publish(t, d, 5*time.Second, m...)[1].Outcome == broker.Accepted
	})
}

func TestNoErrorQuotesALogin(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	seed := filepath.Join(folder, "seed")
	if err := os.WriteFile(seed, []byte("SU"+password), 0o600); err != nil {
		t.Fatal(err)
	}
	login := natsbroker.Login{User: user, Password: password, Token: password, CredentialsFile: filepath.Join(folder, "none.creds")}
	for name, c := range map[string]struct {
		urls  string
		login natsbroker.Login
	}{
		"a URL with spaces":        {urls: "nats://u:" + password + " @host"},
		"a URL with a wrong port":  {urls: "nats://u:" + password + "/x@host"},
		"a URL without a host":     {urls: "nats://u:" + password + "@"},
		"a URL of another scheme":  {urls: "http://u:" + password + "@host"},
		"one wrong URL of several": {urls: "nats://host, nats://u:" + password + "%zz@host"},
		"no URL":                   {urls: ""},
		"too many logins":          {urls: "nats://host", login: login},
		"an invalid seed":          {urls: "nats://host", login: natsbroker.Login{NKeyFile: seed}},
		"invalid credentials":      {urls: "nats://host", login: natsbroker.Login{CredentialsFile: seed}},
		"an invalid port":          {urls: "nats://u:" + password + "@host:99999"},
	} {
		_, err := natsbroker.Dial(t.Context(), c.urls, natsbroker.Options{Login: c.login})
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v, want an error without the password", name, err)
		}
	}
}
