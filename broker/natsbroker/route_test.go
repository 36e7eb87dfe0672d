package natsbroker

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

func TestInvalidSubjectsAreRefused(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{
		"orders": "", "orders.created": "", "a.b.c.d": "", "größe.漢字.🙂": "", "with-dash_and/slash": "", "a*b.c>d": "", "$KV.bucket.key": "",
		"_INBOX.a": "", "%41": "", strings.Repeat("a", maxSubject): "", "$JSON": "",

		"":                                "is empty",
		strings.Repeat("a", maxSubject+1): "has 1025 bytes, 1024 are allowed",
		"a b":                             "holds a space or a control character",
		"a\tb":                            "holds a space or a control character",
		"a\r\nPUB x":                      "holds a space or a control character",
		"a\x00":                           "holds a space or a control character",
		"a\x7f":                           "holds a space or a control character",
		".a":                              "has an empty token: a dot at an end, or two in a row",
		"a.":                              "has an empty token: a dot at an end, or two in a row",
		"a..b":                            "has an empty token: a dot at an end, or two in a row",
		".":                               "has an empty token: a dot at an end, or two in a row",
		"*":                               "has a wildcard for a token",
		"a.*.b":                           "has a wildcard for a token",
		"a.>":                             "has a wildcard for a token",
		">":                               "has a wildcard for a token",
		"\xff":                            "is not UTF-8",
		"$JS.API.STREAM.DELETE.ORDERS":    "is one of the server's own",
		"$SYS.REQ.SERVER.PING":            "is one of the server's own",
	} {
		if got := badSubject(subject); got != want {
			t.Errorf("%.40q %q, want %q", subject, got, want)
		}
	}
}

// What the server holds to be a subject to publish to, and what is taken here,
// differ only by what the comments of badSubject say.
func FuzzSubject(f *testing.F) {
	for _, s := range []string{"a", "a.b", "a..b", "*", "a.>", "a b", "\x00", "ü", "$JS.x", strings.Repeat("x.", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if badSubject(s) == "" && !server.IsValidLiteralSubject(s) {
			t.Errorf("%q passes, and the server holds it to be invalid", s)
		}
	})
}

func TestSubjectFiltersMatchAsOnTheServer(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	tokens := func(words ...string) string {
		var picked []string
		for range 1 + random.IntN(4) {
			picked = append(picked, words[random.IntN(len(words))])
		}
		return strings.Join(picked, ".")
	}
	agreed := map[bool]int{}
	for range 20_000 {
		subject := tokens("a", "b", "ab")
		filter := tokens("a", "b", "ab", "*", "*")
		if random.IntN(3) == 0 {
			filter += ".>"
		}
		want := server.SubjectsCollide(subject, filter)
		if got := matches(filter, subject); got != want {
			t.Fatalf("matches(%q, %q) is %v, the server says %v", filter, subject, got, want)
		}
		agreed[want]++
	}
	if agreed[true] < 1000 || agreed[false] < 1000 {
		t.Errorf("the sample is one-sided: %v", agreed)
	}
	if !matches(">", "a.b") || matches("a.>", "a") {
		t.Error("the wildcard > stands for one token or more")
	}
}
