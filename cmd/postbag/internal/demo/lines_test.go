package demo

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestTheDemoShowsTheLinesThatItRuns(t *testing.T) {
	t.Parallel()
	shop := lines(shopSource, "err := s.db.inTx(", "})")
	if n := len(shop); n < 8 || n > 20 || !strings.Contains(strings.Join(shop, "\n"), "s.publisher.Publish(ctx, tx, ") {
		t.Errorf("of the shop it shows %d lines:\n%s", n, strings.Join(shop, "\n"))
	}
	relay := lines(relaySource, "r, err := relay.New(", "return r.Run(")
	if n := len(relay); n < 5 || n > 12 || !strings.Contains(strings.Join(relay, "\n"), "Subscriptions: ") {
		t.Errorf("of the relay it shows %d lines:\n%s", n, strings.Join(relay, "\n"))
	}
	billing := lines(billingSource, "func bill(", "}")
	if n := len(billing); n < 5 || n > 12 || !strings.Contains(strings.Join(billing, "\n"), "insert into invoices") {
		t.Errorf("of the billing service it shows %d lines:\n%s", n, strings.Join(billing, "\n"))
	}
	for _, line := range slices.Concat(shop, relay, billing) {
		if strings.Contains(line, "\t") {
			t.Errorf("a line holds a tab: %q", line)
		}
	}
	if got := lines(shopSource, "no such line", "}"); got != nil {
		t.Errorf("of what is not there it shows %q", got)
	}
}

func TestTheDemoSaysWhatToTryNext(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newScreen(&out, false)
	showLines(s)
	showNext(s)
	for _, want := range []string{"What the shop runs", "relay.New(", "inbox.NewConsumer(", "make demo ARGS=--postgres", "docs/guides/daemon.md"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
}
