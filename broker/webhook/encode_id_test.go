package webhook

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// deduplicating is an endpoint that drops repeats as Standard Webhooks asks: by
// webhook-id, of whatever sender.
type deduplicating struct {
	mu     sync.Mutex
	bodies map[string]string     // by webhook-id
	ids    map[string]postbag.ID // of the message, by webhook-id
	faults []error
}

func (e *deduplicating) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, err := Receive(r, ReceiveOptions{Secrets: []string{secretA}})
	e.mu.Lock()
	defer e.mu.Unlock()
	id := r.Header.Get(HeaderWebhookID)
	if body, repeat := e.bodies[id]; repeat && body != string(m.Payload) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		e.faults = append(e.faults, err)
	}
	e.bodies[id], e.ids[id] = string(m.Payload), m.ID
	w.WriteHeader(StatusOf(err))
}

func TestTheWebhookIDDiffersBetweenSubscriptions(t *testing.T) {
	t.Parallel()
	e := &deduplicating{bodies: map[string]string{}, ids: map[string]postbag.ID{}}
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	d := open(t, options(s.URL))
	m := sample()
	others := []broker.Delivery{m, m, m, m}
	others[1].Subscription = "encoded"
	others[1].Payload, others[1].Wire = []byte("<order/>"), &broker.Wire{ContentType: "text/xml"}
	others[2].Subscription, others[2].Topic = "routed", "elsewhere"
	others[3].Box = "another"
	for attempt := 1; attempt <= 3; attempt++ {
		for _, m := range others {
			m.Attempt = attempt
			want(t, publish(t.Context(), d, m), broker.Accepted)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.ids) != len(others) || len(e.faults) > 0 {
		t.Errorf("%d webhooks of %d were told apart, faults %v", len(e.ids), len(others), e.faults)
	}
	for id, of := range e.ids {
		if of != m.ID {
			t.Errorf("webhook-id %s is received as message %v, want %v", id, of, m.ID)
		}
	}
}

func TestAWebhookIDIsValidByStandardWebhooks(t *testing.T) {
	t.Parallel()
	m := sample()
	for _, subscription := range []string{"", "default", "a.b", "a b\x00", "grün"} {
		m.Subscription = subscription
		id := webhookID(&m)
		if len(id) != 53 || id[:36] != m.ID.String() {
			t.Errorf("%q does not begin with the message's id", id)
		}
		for _, c := range id {
			if c == '.' || c <= ' ' || c > '~' { // a full stop ends it in what is signed
				t.Errorf("%q has %q in it", id, c)
			}
		}
		if got, err := messageID(id); err != nil || got != m.ID {
			t.Errorf("%q is message %v, %v", id, got, err)
		}
	}
}
