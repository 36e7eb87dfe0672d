package config

import (
	"net/netip"
	"time"
)

// Kinds of components for tests of this package alone.

type testAddress struct {
	URL    string `yaml:"url"`
	URLEnv string `yaml:"url_env"`
}

func (a *testAddress) check(r Report) {
	if count(a.URL, a.URLEnv) != 1 {
		r.Atf("", "has no URL; give one of url and url_env")
	}
	if HasCredential(a.URL) {
		r.Shownf("url", "holds a user, password or token; put the URL into the environment (url_env)")
	}
}

type testNATS struct {
	testAddress

	Stream       string        `yaml:"stream"`
	UserEnv      string        `yaml:"user_env"`
	PasswordEnv  string        `yaml:"password_env"`
	PasswordFile string        `yaml:"password_file"`
	MaxPending   int           `yaml:"max_pending" range:"1..1000"`
	Recheck      time.Duration `yaml:"recheck" range:"1ms..24h"`
	TLS          bool          `yaml:"tls"`
}

func (n *testNATS) Check(r Report) { n.check(r) }

type testWebhook struct {
	testAddress

	SecretsEnv   []string       `yaml:"secrets_env"`
	AllowPrivate []netip.Prefix `yaml:"allow_private"`
	Timeout      time.Duration  `yaml:"timeout" range:"1ms..1h"`
}

func (w *testWebhook) Check(r Report) { w.check(r) }

type testStdout struct{}

func (*testStdout) Check(Report) {}

func testKinds() Kinds {
	return Kinds{
		Stores: []Kind{
			{Name: "postgresql", Schemes: []string{"postgres://", "postgresql://"}},
			{Name: "sqlite", Schemes: []string{"sqlite:", "file:"}},
		},
		Destinations: []Kind{
			{Name: "nats", Schemes: []string{"nats://", "tls://"}, New: func() Settings { return new(testNATS) }},
			{Name: "webhook", Schemes: []string{"https://", "http://"}, New: func() Settings { return new(testWebhook) }},
			{Name: "stdout", Schemes: []string{"stdout:"}, New: func() Settings { return new(testStdout) }},
		},
		Sources: []Kind{
			{Name: "nats", New: func() Settings { return new(testNATS) }},
			{Name: "webhook", New: func() Settings { return new(testWebhook) }},
		},
	}
}
