package stdout_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	open := func() (*paper, brokertest.Fixture) {
		p := &paper{}
		return p, brokertest.Fixture{Destination: opened(t, p), Topic: "conformance", Stored: p.read, Wired: p.wired}
	}
	brokertest.Run(t, brokertest.Harness{
		On: "standard output",
		Open: func(*testing.T) brokertest.Fixture {
			_, f := open()
			return f
		},
		Outage: func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			p, f := open()
			return f, brokertest.Switch{Off: func() { p.set(errors.New("no space left")) }, On: func() { p.set(nil) }}
		},
		Mute: func(*testing.T) (brokertest.Fixture, brokertest.Switch) {
			p, f := open()
			return f, brokertest.Switch{Off: p.block, On: p.unblock}
		},
		Spoil: func(m *broker.Delivery) { m.Type = "\xff" },
		Lacks: map[brokertest.Part]string{
			brokertest.PartMisconfigured: "a writer has no configuration",
			brokertest.PartTopics:        "a writer knows no topics",
			brokertest.PartLimit:         "a line has no limit",
		},
		Features: broker.Features{Ordered: true},
		Nulls:    true,
	})
}

// paper is a writer that can fail and block.
type paper struct {
	mu      sync.Mutex
	text    bytes.Buffer
	err     error
	blocked chan struct{}
}

func (p *paper) Write(b []byte) (int, error) {
	n, err, blocked := p.take(b)
	if blocked != nil {
		<-blocked
	}
	return n, err
}

func (p *paper) take(b []byte) (int, error, chan struct{}) { //nolint:revive,staticcheck // the error is the writer's, not this function's
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return 0, p.err, p.blocked
	}
	n, _ := p.text.Write(b)
	return n, nil, p.blocked
}

func (p *paper) set(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

func (p *paper) block() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocked = make(chan struct{})
}

func (p *paper) unblock() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.blocked)
	p.blocked = nil
}

func (p *paper) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.TrimSuffix(p.text.String(), "\n"), "\n")
}

// read decodes the lines by a struct of its own.
func (p *paper) read(t *testing.T) []brokertest.Received {
	t.Helper()
	var held []brokertest.Received
	for i, text := range p.lines() {
		if text == "" {
			continue
		}
		r, err := parse(text)
		if err != nil {
			t.Fatalf("line %d is broken: %v", i, err)
		}
		held = append(held, r)
	}
	return held
}

func parse(text string) (brokertest.Received, error) {
	var l struct {
		ID      postbag.ID        `json:"id"`
		Topic   string            `json:"topic"`
		Key     string            `json:"key"`
		Type    string            `json:"type"`
		Time    *time.Time        `json:"time"`
		Headers map[string]string `json:"headers"`
		Payload *string           `json:"payload"`
		Base64  []byte            `json:"payload_base64"`
	}
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return brokertest.Received{}, err
	}
	r := brokertest.Received{ID: l.ID, Topic: l.Topic, Key: l.Key, Type: l.Type, Headers: l.Headers, Payload: l.Base64}
	if l.Time != nil {
		r.At = *l.Time
	}
	if l.Payload != nil {
		r.Payload = []byte(*l.Payload)
	}
	return r, nil
}

// wired decodes what an encoder made.
func (p *paper) wired(t *testing.T) []brokertest.Wired {
	t.Helper()
	var held []brokertest.Wired
	for i, text := range p.lines() {
		if text == "" {
			continue
		}
		var l struct {
			Headers map[string]string `json:"headers"`
			Content string            `json:"content_type"`
			Payload *string           `json:"payload"`
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("line %d is broken: %v", i, err)
		}
		w := brokertest.Wired{Headers: l.Headers, ContentType: l.Content, Null: l.Payload == nil}
		if l.Payload != nil {
			w.Payload = []byte(*l.Payload)
		}
		held = append(held, w)
	}
	return held
}
