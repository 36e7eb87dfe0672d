package console

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/postbag/postbag/internal/redact"
)

// console answers requests.
type console struct {
	databases []*database
	payloads  bool
	rules     *redact.Rules // what nobody sees of them
	// words puts the text of an error into those of its reader.
	words func(string) string
	// stranger answers those who are not logged in; nil: there is no login.
	stranger http.HandlerFunc
	commands bool
	edits    bool
	// auditPayloads: each look at a payload is in the audit log.
	auditPayloads bool
	who           string // gives commands where there is no login
	live          *live
	days          *days // nil: it asks no Prometheus
	// liveRoutes answers streams.
	liveRoutes *http.ServeMux
	// decode and traceLink are those of Options.
	decode    func(topic, typ string, payload []byte) (string, bool)
	traceLink string
}

// New makes a console. Serve it at the root of a server, or below a path with http.StripPrefix. Its addresses are relative. It may
// be called concurrently. Call [Console.Run] for charts and for pages that are told of changes. The stores stay yours: close them
// after the last request, and after Run.
func New(o Options) (*Console, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &console{payloads: o.Payloads, words: o.Words, stranger: o.Stranger, commands: o.Commands, edits: o.Edits, auditPayloads: o.AuditPayloads, who: o.Who, live: newLive(cmp.Or(o.Sample, DefaultSample), cmp.Or(o.Streams, DefaultStreams)), decode: o.Decode, traceLink: o.TraceLink, days: newDays(o.Prometheus, len(o.Databases) == 1)}
	c.rules, _ = o.Redact.rules() // Validate has read them
	if c.words == nil {
		c.words = func(text string) string { return text }
	}
	for i := range o.Databases {
		d, err := newDatabase(&o.Databases[i], cmp.Or(o.Timeout, DefaultTimeout))
		if err != nil {
			return nil, err
		}
		c.databases = append(c.databases, d)
	}
	c.liveRoutes = c.liveMux()
	mux := http.NewServeMux()
	for _, r := range routes() {
		mux.HandleFunc(r.verb()+" "+r.path, func(w http.ResponseWriter, req *http.Request) { c.serve(&r, w, req) })
	}
	return &Console{guarded(mux), c}, nil
}

// serve answers one request, and says as people or programs read it why it cannot.
func (c *console) serve(r *route, w http.ResponseWriter, req *http.Request) {
	if c.isStranger(r, req) {
		c.stranger(w, req)
		return
	}
	if r.page && r.form == nil && tidied(w, req) {
		return
	}
	req = withReadings(req)
	err := c.allow(r, req)
	if err == nil {
		err = r.check(req)
	}
	if err == nil {
		err = r.handle(c, w, req)
	}
	switch {
	case err == nil:
	case r.page:
		c.failPage(w, req, err)
	default:
		c.fail(w, req, err)
	}
}

// asJSON answers with what a look finds, for programs.
func asJSON[T any](look func(*console, *http.Request) (T, error)) func(*console, http.ResponseWriter, *http.Request) error {
	return func(c *console, w http.ResponseWriter, r *http.Request) error {
		v, err := look(c, r)
		if err != nil {
			return err
		}
		sayRead(w, r)
		return answer(w, v)
	}
}

// database returns the one that the path names.
func (c *console) database(r *http.Request) (*database, error) {
	name := r.PathValue("database")
	for _, d := range c.databases {
		if d.name == name {
			return d, nil
		}
	}
	return nil, errNoDatabase
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // the one who asked has gone; a test writes every type of answer
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, v any) error {
	writeJSON(w, http.StatusOK, v)
	return nil
}

// flag reads a parameter that is true or false.
func flag(r *http.Request, name string) (bool, error) {
	switch r.URL.Query().Get(name) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, badRequestf("%s is neither true nor false; write one of them", name)
}
