package component

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/source"
)

// WebhookSource takes in what others post over HTTP, by Standard Webhooks.
type WebhookSource struct {
	// The address to listen at; a bare port means loopback. No other source may have it.
	// Required.
	Listen string `yaml:"listen"`
	// The path that takes requests. Others get 404.
	Path string `yaml:"path" default:"/"`
	// The certificate of the server, PEM. With it the server speaks HTTPS. New connections get
	// a file that has changed.
	CertFile string `yaml:"cert_file" otherwise:"plain HTTP, for a proxy in front"`
	// The key of the server's certificate, PEM.
	KeyFile string `yaml:"key_file"`
	// Variables that hold the senders' secrets (whsec_...). What matches one of them is taken.
	// One, here or in secrets_file, is required.
	SecretsEnv []string `yaml:"secrets_env"`
	// Files that hold the senders' secrets.
	SecretsFile []string `yaml:"secrets_file"`
	// How far the timestamp may lie from this machine's clock.
	Tolerance time.Duration `yaml:"tolerance" range:"1s..24h" default:"5m"`
	// The largest body.
	MaxBytes config.Size `yaml:"max_bytes" range:"1..16777216" default:"8MiB"`
	// Media types that are taken, such as [application/json].
	ContentTypes []string `yaml:"content_types" otherwise:"any"`
	// The header that holds the topic of a message.
	TopicHeader string `yaml:"topic_header" otherwise:"Postbag-Topic; without it the topic is webhook"`
	// How long a request waits for the commit. Then it is answered with 503.
	AnswerWithin time.Duration `yaml:"answer_within" range:"100ms..10m" default:"10s"`
	// Most requests in hand at a time. Others are answered with 503.
	Requests int `yaml:"requests" range:"1..1000000" default:"1000"`
	// Most bytes of their bodies at a time, max_bytes at least.
	Memory config.Size `yaml:"memory" range:"1..1073741824" default:"64MiB"`
}

// bodyTimeout is how long a request may take with its header and its body, where no source has set
// another deadline: one for another path is answered only when its body has come.
const bodyTimeout = 15 * time.Second

// hookPath is a path as it stands in a request.
var hookPath = regexp.MustCompile(`^/[A-Za-z0-9._~/-]*$`)

// Check implements config.Settings.
func (w *WebhookSource) Check(r config.Report) {
	if _, mistake := config.ListenAddress(w.Listen); mistake != "" {
		r.Atf("listen", "%s", mistake)
	}
	if !hookPath.MatchString(w.Path) {
		r.Atf("path", "is no path; begin it with /, and use letters, digits and . _ ~ - /")
	}
	if (w.CertFile == "") != (w.KeyFile == "") {
		r.Atf("", "has only one of cert_file and key_file; set both, or neither")
	}
	if w.Memory < w.MaxBytes && !r.Later("max_bytes") {
		r.Atf("memory", "is less than max_bytes; raise it, so that a large body fits")
	}
}

// ListensAt implements config.Listening.
func (w *WebhookSource) ListensAt() string { return w.Listen }

func (w *WebhookSource) openSource(_ context.Context, onFault func(error), dry bool) (source.Source, error) {
	o := webhook.SourceOptions{
		Tolerance: w.Tolerance, MaxBytes: int64(w.MaxBytes), ContentTypes: w.ContentTypes, AnswerWithin: w.AnswerWithin,
		Requests: w.Requests, Memory: int64(w.Memory), OnFault: seldom(func(err error) { onFault(fmt.Errorf("a request is refused: %w", err)) }),
	}
	if w.TopicHeader != "" {
		o.Topic = webhook.FromHeader(w.TopicHeader)
	}
	var err error
	if o.Secrets, err = secretsOf(w.SecretsEnv, w.SecretsFile); err != nil {
		return nil, err
	}
	var secure *tls.Config
	if w.CertFile != "" {
		pair, err := newKeyPair(w.CertFile, w.KeyFile, seldom(onFault))
		if err != nil {
			return nil, err
		}
		secure = &tls.Config{GetCertificate: pair.server, MinVersion: tls.VersionTLS12}
	}
	if dry {
		return nil, o.Validate()
	}
	return w.serve(o, secure)
}

// serve listens, and answers requests until the source is closed.
func (w *WebhookSource) serve(o webhook.SourceOptions, secure *tls.Config) (source.Source, error) {
	hooks, err := webhook.NewSource(o)
	if err != nil {
		return nil, err
	}
	address, _ := config.ListenAddress(w.Listen) // checked when it was read
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot listen: %w; choose another address with listen", err), hooks.Close(context.Background()))
	}
	s := &hookServer{Source: hooks, address: listener.Addr().String(), served: make(chan struct{})}
	s.server = &http.Server{
		Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.URL.Path != w.Path {
				http.NotFound(out, r)
				return
			}
			hooks.ServeHTTP(out, r)
		}),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: bodyTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, TLSConfig: secure,
	}
	go func() {
		defer close(s.served)
		if secure != nil {
			_ = s.server.ServeTLS(listener, "", "") // it ends with Close
			return
		}
		_ = s.server.Serve(listener)
	}()
	return s, nil
}

// hookServer is a source of webhooks with a server of its own.
type hookServer struct {
	*webhook.Source

	address string
	server  *http.Server
	served  chan struct{}
}

// Address is where it listens.
func (s *hookServer) Address() string { return s.address }

// Close answers what waits with 503, and ends the server.
func (s *hookServer) Close(ctx context.Context) error {
	err := s.Source.Close(ctx)
	if stopped := s.server.Shutdown(ctx); stopped != nil {
		err = errors.Join(err, stopped, s.server.Close())
	}
	<-s.served
	return err
}

// seldom calls a function once a minute at most: others decide how often they connect, and how
// many requests they send.
func seldom(call func(error)) func(error) {
	var said atomic.Int64
	return func(err error) {
		now, before := time.Now().UnixNano(), said.Load()
		if before > 0 && now-before < int64(time.Minute) || !said.CompareAndSwap(before, now) {
			return
		}
		call(err)
	}
}
