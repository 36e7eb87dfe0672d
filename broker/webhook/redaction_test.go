package webhook

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

// secrets are in every place that no error may show.
func canaries() (Options, broker.Delivery) {
	o := options("")
	o.Secrets = []string{"whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5"}
	o.Header = http.Header{"Authorization": {"Bearer canary"}, "X-Key": {"canary"}}
	o.Timeout = 100 * time.Millisecond
	m := sample()
	m.Key, m.Payload = "canary", []byte("canary")
	m.Headers = map[string]string{"canary-value": "canary", "X-Plain": "canary"}
	return o, m
}

func TestNoErrorShowsASecret(t *testing.T) {
	t.Parallel()
	// echo returns the whole request as its answer.
	echo := func(before string) func(*rawServer, net.Conn) {
		return func(s *rawServer, c net.Conn) {
			var seen bytes.Buffer
			r := bufio.NewReader(io.TeeReader(c, &seen))
			if s.whole(r) == nil {
				_, _ = io.WriteString(c, before+seen.String())
			}
		}
	}
	servers := map[string]func(*rawServer, net.Conn){
		"echo":                    echo(""),
		"echo as a status":        echo("HTTP/1.1 canary "),
		"echo as a reason":        echo("HTTP/1.1 500 "),
		"echo as a header":        echo("HTTP/1.1 500 Oops\r\nX: "),
		"echo as a broken header": echo("HTTP/1.1 500 Oops\r\n canary "),
		"echo as a length":        echo("HTTP/1.1 500 Oops\r\nContent-Length: "),
		"echo as a body":          echo("HTTP/1.1 422 canary\r\nRetry-After: canary\r\n\r\n"),
		"echo as a location":      echo("HTTP/1.1 302 canary\r\nLocation: http://canary/canary\r\n\r\n"),
		"echo as chunks":          echo("HTTP/1.1 404 canary\r\nTransfer-Encoding: chunked\r\n\r\ncanary"),
		"echo as an encoding":     echo("HTTP/1.1 404 canary\r\nTransfer-Encoding: canary\r\n\r\ncanary"),
		"silence":                 func(s *rawServer, _ net.Conn) { <-s.over },
		"a cut":                   func(*rawServer, net.Conn) {},
		"a reset":                 func(_ *rawServer, c net.Conn) { reset(c) },
	}
	for name, serve := range servers {
		for _, scheme := range []string{"http", "https"} {
			t.Run(name+" over "+scheme, func(t *testing.T) {
				t.Parallel()
				s := raw(t, serve)
				o, m := canaries()
				o.URL = scheme + "://canary:canary@" + s.Addr().String() + "/canary?token=canary"
				d := open(t, o)
				r := publish(t.Context(), d, m)
				silent(t, r.Err)
				silent(t, d.Probe(t.Context()))
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				defer cancel()
				silent(t, publish(ctx, d, m).Err)
			})
		}
	}
}

func TestNoErrorOfURLForShowsASecret(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"http://canary:canary@10.0.0.1/canary", "http://canary:canary@[::1]/", "ftp://canary", "http://canary:canary@x:canary/", "%canary",
		"http://x/#canary", "http://canary@127.1/", "http:canary", "http://canary:canary@x:99999/", "http://x/\x7fcanary", "http://canary@[::1%25canary]/",
	} {
		o, m := canaries()
		o.AllowPrivate = nil
		o.URLFor = func(broker.Delivery) (string, error) { return raw, nil }
		r := publish(t.Context(), open(t, o), m)
		want(t, r, broker.Misconfigured)
		if raw != "http://canary@[::1%25canary]/" { // a zone is part of an address
			silent(t, r.Err)
		}
		o.URLFor = func(broker.Delivery) (string, error) {
			_, err := url.Parse("http://canary:canary@x:" + m.Key)
			return "", fmt.Errorf("look up: %w", err)
		}
		silent(t, publish(t.Context(), open(t, o), m).Err)
	}
}

// silent fails when err, or what it wraps, shows a canary.
func silent(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		for _, format := range []string{"%v", "%+v", "%#v"} {
			if text := fmt.Sprintf(format, err); strings.Contains(text, "canary") || strings.Contains(text, "Y2FuYXJ5") {
				t.Errorf("%s shows a secret: %s", format, text)
			}
		}
		if !strings.Contains(err.Error(), "; ") && errors.Unwrap(err) != nil {
			t.Errorf("%q names no fix", err)
		}
	}
}
