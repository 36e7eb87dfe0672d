package mysqlstore_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
)

// receivesTooLarge has a receiver take in a message that the server does not, with others around it. It stops there, and goes on when
// it may keep the head.
func (s *testBox) receivesTooLarge(t *testing.T) {
	t.Helper()
	before := len(s.Read())
	broker := memsource.New(memsource.Options{Order: source.OrderStream})
	run := func(ctx context.Context, p inbox.SizePolicy) error {
		src := broker.Join("billing")
		r, err := inbox.NewReceiver(inbox.ReceiverOptions[postbag.SQLTx]{
			Store: s.Store, Source: src, Box: "outbox", TooLarge: p, Logger: slog.New(slog.DiscardHandler),
		})
		s.Must(err)
		err = r.Run(ctx)
		s.Must(src.Close(context.WithoutCancel(ctx)))
		return err
	}
	for _, size := range []int{1, 4 << 20, 2} {
		s.Must(broker.Publish(source.Message{Payload: make([]byte, size)}))
	}
	if err := run(t.Context(), inbox.StopIfTooLarge); err == nil || !strings.Contains(err.Error(), "too large") || !strings.Contains(err.Error(), "ReceiverOptions.TooLarge") {
		t.Errorf("the receiver ended with %v", err)
	}
	if n := len(s.Read()) - before; n != 1 || broker.Unacked("billing") != 2 {
		t.Errorf("%d messages are stored, and %d are not acknowledged", n, broker.Unacked("billing"))
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, inbox.KeepHead) }()
	waited := broker.WaitUntilAcked(t.Context(), "billing")
	stop()
	s.Must(waited)
	s.Must(<-ended)
	var sizes string
	s.Must(openSQL(s.TB, s.dsn).QueryRowContext(t.Context(),
		"SELECT GROUP_CONCAT(size ORDER BY seq) FROM (SELECT seq, LENGTH(payload) AS size FROM postbag_outbox ORDER BY seq DESC LIMIT 3) AS last").Scan(&sizes))
	if sizes != "1,4096,2" {
		t.Errorf("the last messages have %s bytes", sizes)
	}
}
