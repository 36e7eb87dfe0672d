package webhook

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/postbag/postbag/broker"
)

// sink accepts everything and looks at nothing, so that the sender is measured.
func sink(b *testing.B, h2 bool) *httptest.Server {
	b.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	s.EnableHTTP2 = h2
	if h2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	b.Cleanup(s.Close)
	return s
}

// BenchmarkPublish compares a destination with a bare http.Client that posts the
// same payload, and with one that posts the same signed request, by one caller
// and by many.
func BenchmarkPublish(b *testing.B) {
	for _, h2 := range []bool{false, true} {
		for _, size := range []int{1 << 10, 64 << 10} {
			for _, callers := range []int{1, 16} {
				name := fmt.Sprintf("h2=%v/%dKiB/%dcallers", h2, size>>10, callers)
				payload := make([]byte, size)
				b.Run(name+"/raw", func(b *testing.B) { benchmarkRaw(b, sink(b, h2), payload, callers) })
				b.Run(name+"/signed", func(b *testing.B) { benchmarkSigned(b, sink(b, h2), payload, callers) })
				b.Run(name+"/webhook", func(b *testing.B) { benchmarkWebhook(b, sink(b, h2), payload, callers) })
			}
		}
	}
}

func benchmarkRaw(b *testing.B, s *httptest.Server, payload []byte, callers int) {
	b.Helper()
	client := clientOf(s, callers)
	many(b, callers, func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(payload))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		return do(client, r)
	})
}

func benchmarkSigned(b *testing.B, s *httptest.Server, payload []byte, callers int) {
	b.Helper()
	client := clientOf(s, callers)
	with, err := options(s.URL).resolve()
	if err != nil {
		b.Fatal(err)
	}
	m := sample()
	m.Payload = payload
	many(b, callers, func(ctx context.Context) error {
		return do(client, newRequest(ctx, &with, with.target, &m))
	})
}

func clientOf(s *httptest.Server, callers int) *http.Client {
	client := s.Client()
	if t, ok := client.Transport.(*http.Transport); ok {
		t.MaxIdleConnsPerHost = callers
	}
	return client
}

func do(client *http.Client, r *http.Request) error {
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.Body.Close()
}

func benchmarkWebhook(b *testing.B, s *httptest.Server, payload []byte, callers int) {
	b.Helper()
	o := options(s.URL)
	if s.TLS != nil {
		o.RootCAs = x509.NewCertPool()
		o.RootCAs.AddCert(s.Certificate())
	}
	d := open(b, o)
	m := sample()
	m.Payload = payload
	many(b, callers, func(ctx context.Context) error {
		if r := publish(ctx, d, m); r.Outcome != broker.Accepted {
			return r.Err
		}
		return nil
	})
}

// many runs send b.N times in all.
func many(b *testing.B, callers int, send func(context.Context) error) {
	b.Helper()
	b.ReportAllocs()
	b.SetParallelism(max(1, callers/2)) // times GOMAXPROCS
	if callers == 1 {
		for b.Loop() {
			if err := send(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := send(b.Context()); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
