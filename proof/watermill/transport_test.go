package watermill_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/watermillbroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/sqlitestore"
)

// transport is a box with a relay that delivers it through a Watermill publisher.
type transport struct {
	store *sqlitestore.Store
	pub   *postbag.Publisher[*sql.Tx]
}

// newTransport starts one, which runs until the test has ended.
func newTransport(t *testing.T, to message.Publisher, o watermillbroker.Options) *transport {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "outbox.db"), sqlitestore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := postbag.NewPublisher(s.SQL(), postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dest, err := watermillbroker.New(to, o)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := relay.New(s, relay.Options{Subscriptions: []relay.Subscription{{To: dest}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- rel.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the relay ended: %v", err)
		}
		if err := dest.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &transport{store: s, pub: pub}
}

// publisher is Watermill's, with a transaction for each call. Messages of one
// payload are of one key, because the suite asks for their order.
func (tr *transport) publisher() message.Publisher {
	sender := postbag.SenderFunc(func(ctx context.Context, msgs ...postbag.Message) error {
		return tr.pub.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error { return tr.pub.Publish(ctx, tx, msgs...) })
	})
	p, _ := watermillbroker.NewPublisher(sender, watermillbroker.PublisherOptions{ // it has a sender, and can fail by nothing else
		Key: func(topic string, m *message.Message) string { return topic + "/" + string(m.Payload) },
	})
	return p
}
