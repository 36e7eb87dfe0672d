package browser

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/postbag/postbag/broker/webhook"
)

// partner is the endpoint of a webhook. It refuses messages of some types.
type partner struct {
	server *httptest.Server

	mu      sync.Mutex
	down    bool
	refuses map[string]bool
	keys    []string // of what it took
}

func newPartner() *partner {
	p := &partner{refuses: map[string]bool{"order.cancelled": true, "order.returned": true, attack: true}}
	p.server = httptest.NewServer(http.HandlerFunc(p.receive))
	return p
}

func (p *partner) close() error {
	p.server.Close()
	return nil
}

func (p *partner) receive(w http.ResponseWriter, r *http.Request) {
	m, err := webhook.Receive(r, webhook.ReceiveOptions{Secrets: []string{partnerSecret}})
	if err != nil {
		w.WriteHeader(webhook.StatusOf(err))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if p.refuses[m.Type] {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	p.keys = append(p.keys, m.Key)
}

// goes down, or comes back.
func (p *partner) goes(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// refuse has it refuse a type from now on, or take it.
func (p *partner) refuse(typ string, refused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses[typ] = refused
}

// gotOf says how many messages it took whose keys begin so.
func (p *partner) gotOf(prefix string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.keys {
		if strings.HasPrefix(k, prefix) {
			n++
		}
	}
	return n
}

// got says how many messages with this key it took.
func (p *partner) got(key string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.keys {
		if k == key {
			n++
		}
	}
	return n
}
