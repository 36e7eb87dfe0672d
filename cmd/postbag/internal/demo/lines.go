package demo

import (
	_ "embed"
	"strings"
)

// The demo shows the lines that it runs, as they are compiled into it.
var (
	//go:embed shop.go
	shopSource string
	//go:embed relay.go
	relaySource string
	//go:embed billing.go
	billingSource string
)

// lines returns the lines of source from the one that begins with first to the one
// that begins with last, without the indent of the first.
func lines(source, first, last string) []string {
	var out []string
	indent := ""
	for line := range strings.Lines(source) {
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimLeft(line, "\t")
		if out == nil {
			if !strings.HasPrefix(bare, first) {
				continue
			}
			indent = line[:len(line)-len(bare)]
		}
		line = strings.TrimPrefix(line, indent)
		out = append(out, strings.ReplaceAll(line, "\t", "    "))
		if strings.HasPrefix(line, last) {
			return out
		}
	}
	return nil
}

// showLines shows what the shop, the relay and the billing service run.
func showLines(s *screen) {
	s.showf("\nWhat the shop runs for each order (cmd/postbag/internal/demo/shop.go):\n")
	for _, line := range lines(shopSource, "err := s.db.inTx(", "})") {
		s.showf("    %s", line)
	}
	s.showf("\nAnd the relay, a process of its own (relay.go):\n")
	for _, line := range lines(relaySource, "r, err := relay.New(", "return r.Run(") {
		s.showf("    %s", line)
	}
	s.showf("\nAnd the billing service, which applies each order once (billing.go):\n")
	for _, line := range append(lines(billingSource, "c, err := inbox.NewConsumer(", "})"), lines(billingSource, "func bill(", "}")...) {
		s.showf("    %s", line)
	}
	s.showf("")
}

// showNext says what to try after the demo.
func showNext(s *screen) {
	s.showf(`
Try next:
    make demo ARGS=--console         the same, with the console in your browser
    make demo ARGS=--postgres        the same on a private PostgreSQL server
    make build                       the postbag program, then ./postbag --help
    examples/quickstart              a whole program: PostgreSQL, NATS, an embedded relay
    docs/guides/publish.md           publish from pgx, database/sql, GORM, bun, ent or sqlx
    docs/guides/daemon.md            run the relay beside your service, in any language
    docs/guides/consume.md           apply messages once, in a transaction of your database`)
}
