package main

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker/webhook"
)

func TestAPseudoVersionTellsTheCommit(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v0.0.0-20261123023326-71b4d978092c":        "71b4d978092c",
		"v1.2.4-0.20261123023326-71b4d978092c":      "71b4d978092c",
		"v1.2.3-rc.1.0.20261123023326-71b4d978092c": "71b4d978092c",
		"v0.0.0-20261123023326-71b4d978092c+dirty":  "71b4d978092c",
		"v1.2.3":                       "",
		"devel":                        "",
		"v1.2.3-20261123-71b4d978092c": "",
		"v0.0.0-20261123023326-71b4d978092c.and.more":   "",
		"v0.0.0-20261123023326-not_a_commit_of_twelve1": "",
	} {
		if got := pseudoRevision(version); got != want {
			t.Errorf("%s tells %q, want %q", version, got, want)
		}
	}
}

func TestVersionNamesItsCommitOrSaysHowToGetIt(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]build{
		"abc":                           {Revision: "abc"},
		"abc with changes":              {Revision: "abc", Modified: true},
		"(commit unknown: build with m": {},
	} {
		if got := b.commit(); !strings.HasPrefix(got, want) {
			t.Errorf("%+v says %q, want %q", b, got, want)
		}
	}
}

func TestAWebhookSecretSignsWebhooks(t *testing.T) {
	t.Parallel()
	secret := strings.TrimSpace(cli(t, "webhook-secret").ok().out)
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")); err != nil || len(raw) != 32 {
		t.Errorf("the secret holds %d bytes (%v)", len(raw), err)
	}
	if _, err := webhook.New(webhook.Options{URL: "https://example.com/", Secrets: []string{secret}}); err != nil {
		t.Errorf("a destination does not take it: %v", err)
	}
	var other struct{ Secret string }
	if cli(t, "webhook-secret", "--json").ok().json(&other); other.Secret == "" || other.Secret == secret {
		t.Error("each secret must be another")
	}
}
