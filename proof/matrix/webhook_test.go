package matrix

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/webhook"
)

// receiver takes webhooks of several places, each at a path of its own. It restarts on the same address.
type receiver struct {
	address string

	mu     sync.Mutex
	taken  map[string][][]byte // by path
	server *http.Server
}

func startWebhook(t *testing.T) *server {
	t.Helper()
	r := &receiver{taken: map[string][][]byte{}, address: "127.0.0.1:0"}
	if err := r.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.server.Close() })
	return &server{
		place: r.place,
		restart: func(ctx context.Context) error {
			_ = r.server.Close() // what it answers does not matter: connections break
			<-time.After(shortly)
			return r.start(ctx)
		},
	}
}

func (r *receiver) start(ctx context.Context) error {
	var config net.ListenConfig
	l, err := config.Listen(context.WithoutCancel(ctx), "tcp", r.address)
	if err != nil {
		return err
	}
	r.address = l.Addr().String()
	r.server = &http.Server{Handler: http.HandlerFunc(r.take), ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(l) }(r.server)
	return nil
}

func (r *receiver) take(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return // the sender was killed in the middle
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken[q.URL.Path] = append(r.taken[q.URL.Path], body)
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) place(*testing.T) *place {
	name := newName()
	url, secret := fmt.Sprintf("http://%s/%s", r.address, name), webhook.NewSecret()
	return &place{
		topic: "events",
		yaml:  fmt.Sprintf("{webhook: {url: %q, secrets_env: [HOOK_SECRET], allow_private: [127.0.0.0/8]}}", url),
		env:   []string{"HOOK_SECRET=" + secret},
		open: func(t *testing.T) broker.Destination {
			t.Helper()
			d, err := webhook.New(webhook.Options{
				URL: url, Secrets: []string{secret}, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
			})
			if err != nil {
				t.Fatal(err)
			}
			return d
		},
		stored: func(*testing.T) [][]byte {
			r.mu.Lock()
			defer r.mu.Unlock()
			return slices.Clone(r.taken["/"+name])
		},
	}
}
