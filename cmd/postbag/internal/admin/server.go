package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/postbag/postbag/cmd/postbag/internal/crowd"
	"github.com/postbag/postbag/prompostbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// loopPatience is how long the relay's loop may take to answer before it counts
// as stuck.
const loopPatience = 4 * time.Second

// Server is the listener. Make it with Start; a nil one is off.
type Server struct {
	server *http.Server
	served chan error
}

// Source is a relay and its store.
type Source struct {
	// Name is the store's, where a process has several; it is a label then.
	Name string
	// Stats is nil where no relay runs.
	Stats func() relay.Stats
	Store store.Inspector
	// Every is how often the store is asked for metrics at most. Zero: at each scrape.
	Every time.Duration
	// Intakes returns the state of what takes messages in. Nil: nothing does.
	Intakes func() []prompostbag.SourceStats
	// Observer has the histograms of the relay. Nil: there are none.
	Observer *prompostbag.Observer
	// Wake has the relay look for new messages of a box, or of all of them, and reports
	// whether it reads that box. Nil where no relay runs.
	Wake func(box string) bool
}

// Start listens at address, and serves what the sources say until Close, and below
// /console/ the console, unless that is nil. An empty address: it is off. allow is asked about the address that a name led to,
// before anything is served; nil: every one is good.
func Start(address string, allow func(bound net.Addr) error, sources []Source, console http.Handler, logger *slog.Logger) (*Server, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // off is a state of its own
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("admin: cannot listen: %w; choose another address with admin.listen or --admin", err)
	}
	if allow != nil {
		if err := allow(listener.Addr()); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	a := &Server{
		server: &http.Server{
			Handler:           handler(sources, console),
			ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
			MaxHeaderBytes: 16 << 10,
			ErrorLog:       slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		},
		served: make(chan error, 1),
	}
	logger.Info("admin: health and metrics are served", "address", listener.Addr().String())
	bounded := crowd.Default().Listen(a.server, listener)
	go func() { a.served <- a.server.Serve(bounded) }()
	return a, nil
}

func handler(sources []Source, console http.Handler) http.Handler {
	registry := prometheus.NewRegistry()
	for _, s := range sources {
		var labels prometheus.Labels
		if s.Name != "" {
			labels = prometheus.Labels{"store": s.Name}
		}
		labeled := prometheus.WrapRegistererWith(labels, registry)
		labeled.MustRegister(prompostbag.NewCollector(prompostbag.Options{Stats: s.Stats, Store: s.Store, Every: s.Every, Sources: s.Intakes}))
		if s.Observer != nil {
			labeled.MustRegister(s.Observer)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		Timeout: 2 * prompostbag.DefaultTimeout, MaxRequestsInFlight: 4,
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		asked := time.Now()
		for _, s := range sources {
			if s.Stats != nil {
				s.Stats()
			}
		}
		answer(w, time.Since(asked) < loopPatience, "ok", "the relay's loop is stuck")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		away := waiting(sources)
		answer(w, len(away) == 0, "ready", strings.Join(away, "; "))
	})
	if console != nil {
		mux.Handle("/console/", http.StripPrefix("/console", console))
	}
	mux.HandleFunc("POST /wake", func(w http.ResponseWriter, r *http.Request) { wake(w, r, sources) })
	return mux
}

// waiting says what does not work yet: stores first.
func waiting(sources []Source) (out []string) {
	var stores []string
	for _, s := range sources {
		if s.Stats != nil && !s.Stats().Ready {
			stores = append(stores, strings.TrimSpace("the store "+s.Name))
		}
		if s.Intakes == nil {
			continue
		}
		for _, in := range s.Intakes() {
			if !in.Open {
				out = append(out, "the source "+in.Source+" is not open")
			}
		}
	}
	if len(stores) > 0 {
		out = append([]string{strings.Join(stores, ", ") + " does not answer, or no heartbeat was made yet"}, out...)
	}
	return out
}

// wake has the relays look for new messages. It is no more than a hint: it changes
// nothing, tells nothing of a message, and any number of them costs the store no more
// than a busy box does. So it needs no login either.
func wake(w http.ResponseWriter, r *http.Request, sources []Source) {
	box, name := r.URL.Query().Get("box"), r.URL.Query().Get("store")
	known := false
	for _, s := range sources {
		if s.Wake != nil && (name == "" || name == s.Name) {
			known = s.Wake(box) || known
		}
	}
	if !known {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprintln(w, "this relay has no subscription of that box; name one that it reads, or leave box and store out")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func answer(w http.ResponseWriter, good bool, yes, no string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !good {
		w.WriteHeader(http.StatusServiceUnavailable)
		yes = no
	}
	_, _ = fmt.Fprintln(w, yes)
}

// Close stops listening and waits for requests under way, for two seconds at
// most.
func (a *Server) Close() error {
	if a == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var err error
	if a.server.Shutdown(ctx) != nil { // somebody still reads, which is no fault of the relay
		err = a.server.Close()
	}
	if served := <-a.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
