package webhook

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcetest"
)

const (
	// suiteWait is the ack wait of the suite's sources: long enough for a case that acks nothing on a busy machine.
	suiteWait = 6 * time.Second
	// suiteRequests is more than any case has at work.
	suiteRequests = 250
)

// The broker of the suite is a sender that keeps each message until some endpoint has answered 2xx, as any good one does.
func TestASourceConforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourcetest.Harness{
		On:   "webhooks, as a source",
		Open: suiteFixture,
		Lacks: map[sourcetest.Part]string{
			sourcetest.PartOutage:      "there is no broker that a source connects to",
			sourcetest.PartRebalance:   "endpoints share messages, not partitions",
			sourcetest.PartUndecodable: "a request that cannot be read is answered with 400, and never comes",
		},
		Features: source.Features{
			Order: source.OrderNone, AckWait: suiteWait, MaxUnacked: suiteRequests, Binding: broker.BindingHTTP,
		},
		FoldsNames: true, Visible: true, NoTimes: true,
		Secrets:  []string{secretA},
		Patience: time.Minute,
	})
}

// sender posts each message to one endpoint after the other, until one of them has accepted it.
type sender struct {
	client *http.Client
	stop   context.Context // ends with the test
	work   sync.WaitGroup

	mu   sync.Mutex
	urls []string
	next int
}

func suiteFixture(t *testing.T) sourcetest.Fixture {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &sender{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}, stop: ctx}
	t.Cleanup(func() {
		cancel()
		s.work.Wait()
		s.client.CloseIdleConnections()
	})
	servers := map[source.Source]*httptest.Server{}
	return sourcetest.Fixture{
		Join: func(t *testing.T) source.Source {
			src, err := NewSource(SourceOptions{
				Secrets: []string{secretA}, AnswerWithin: suiteWait, RetryAfter: time.Second, Requests: suiteRequests,
			})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(src)
			t.Cleanup(func() {
				s.drop(server.URL)
				_ = src.Close(context.Background())
				server.Close()
			})
			servers[src] = server
			s.add(server.URL)
			return src
		},
		Send: func(_ *testing.T, msgs ...source.Message) {
			for _, m := range msgs {
				id := postbag.NewID().String()
				s.work.Go(func() { s.deliver(id, m) })
			}
		},
		Kill: func(_ *testing.T, src source.Source) {
			s.drop(servers[src].URL)
			_ = servers[src].Listener.Close()
			servers[src].CloseClientConnections()
		},
	}
}

func (s *sender) add(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.urls = append(s.urls, url)
}

func (s *sender) drop(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, one := range s.urls {
		if one == url {
			s.urls = append(s.urls[:i], s.urls[i+1:]...)
			return
		}
	}
}

// turn returns all endpoints, each time beginning with another one.
func (s *sender) turn() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	at := s.next % max(len(s.urls), 1)
	return slices.Concat(s.urls[at:], s.urls[:at])
}

// deliver posts m until it is accepted. What one endpoint refuses it offers to the others at once.
func (s *sender) deliver(id string, m source.Message) {
	for s.stop.Err() == nil {
		wait := 10 * time.Millisecond
		for _, url := range s.turn() {
			accepted, after := s.post(url, id, m)
			if accepted {
				return
			}
			wait = max(wait, after)
		}
		select {
		case <-time.After(wait):
		case <-s.stop.Done():
		}
	}
}

func (s *sender) post(url, id string, m source.Message) (accepted bool, after time.Duration) {
	r, err := http.NewRequestWithContext(s.stop, http.MethodPost, url, bytes.NewReader(m.Payload))
	if err != nil {
		panic(err)
	}
	r.Header.Set(broker.HeaderKey, broker.Escape(m.Key, ""))
	for _, h := range m.Headers {
		r.Header.Add(h.Name, h.Value)
	}
	sign(r.Header, []string{secretA}, id, time.Now(), m.Payload)
	answer, err := s.client.Do(r)
	if err != nil {
		return false, 0
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, answer.Body)
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return answer.StatusCode/100 == 2, time.Duration(seconds) * time.Second
}

// sign sets the headers of Standard Webhooks.
func sign(header http.Header, secrets []string, id string, at time.Time, body []byte) {
	keys, err := parseSecrets(secrets)
	if err != nil {
		panic(err)
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	header.Set(HeaderWebhookID, id)
	header.Set(HeaderWebhookTimestamp, stamp)
	header.Set(HeaderWebhookSignature, signature(keys, id, stamp, body))
}
