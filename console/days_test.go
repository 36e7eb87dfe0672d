package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/pagetest"
	"github.com/postbag/postbag/store/memstore"
)

// prometheus answers as Prometheus 2.42 does: the answers are of its form, word by word. Their times are those that it is asked for.
type prometheus struct {
	mu      sync.Mutex
	queries []string
	// code and body are what it answers in place of that.
	code int
	body string
	// holds: it answers nothing until the one who asks has gone.
	holds bool
	// empty: it knows of nothing.
	empty bool
}

func (p *prometheus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	start, wrongStart := strconv.ParseInt(r.FormValue("start"), 10, 64)
	end, wrongEnd := strconv.ParseInt(r.FormValue("end"), 10, 64)
	step, wrongStep := strconv.ParseInt(r.FormValue("step"), 10, 64)
	query := r.FormValue("query")
	p.queries = append(p.queries, query)
	switch {
	case p.holds:
		<-r.Context().Done()
	case p.code != 0:
		w.WriteHeader(p.code)
		_, _ = fmt.Fprint(w, p.body)
	case r.URL.Path != "/prom/api/v1/query_range" || wrongStart != nil || wrongEnd != nil || wrongStep != nil || (end-start)/step > 11000:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprint(w, `{"status":"error","errorType":"bad_data","error":"invalid parameter"}`)
	case p.empty:
		_, _ = fmt.Fprint(w, `{"status":"success","data":{"resultType":"matrix","result":[]}}`)
	case strings.Contains(query, "histogram_quantile(0.5,"):
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[%d,"NaN"],[%d,"0.03990384615384616"]]}]}}`, end-step, end)
	case strings.Contains(query, "histogram_quantile(0.99,"):
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[%d,"0.6150000000000019"]]}]}}`, end)
	default:
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[%d,"7"],[%d,"8"]]}]}}`, end-step, end)
	}
}

func (p *prometheus) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.queries = nil }()
	return p.queries
}

// withPrometheus serves a console of a store that asks a Prometheus, with a box more than the usual.
func withPrometheus(t *testing.T, p *prometheus) (h *console.Console, at string) {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	m := created(t, memstore.New(memstore.Options{}))
	boxtest.New(t, m)
	if err := m.CreateBox(t.Context(), "more"); err != nil {
		t.Fatal(err)
	}
	h, err := console.New(console.Options{
		Databases:  []console.Database{{Name: "shop.eu", Store: m}},
		Prometheus: &console.Prometheus{URL: server.URL + "/prom/", Labels: map[string]string{"job": `a"b`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(h)
	t.Cleanup(served.Close)
	return h, served.URL
}

const daysOf = "/api/v1/databases/shop.eu/boxes/outbox/samples?range="

func TestPrometheusHasDaysAndHowLongDeliveriesTook(t *testing.T) {
	t.Parallel()
	p := &prometheus{}
	_, at := withPrometheus(t, p)
	for _, over := range []string{"1h", "6h", "1d", "7d"} {
		all := into[console.Samples](t, at+daysOf+over).Samples
		if len(all) != 2 || *all[0].Published != 7 || all[0].Half != nil || *all[1].Half != 0.03990384615384616 || *all[1].Most != 0.6150000000000019 || *all[1].Dead != 8 {
			t.Errorf("of %s there are %+v", over, all)
		}
		asked := p.asked()
		if len(asked) != 8 || slices.ContainsFunc(asked, func(q string) bool {
			return !strings.Contains(q, `store=~"|shop\\.eu",subscription!~"replay-.*",box=~"outbox",job="a\"b"`)
		}) {
			t.Errorf("it was asked %v", asked)
		}
		_ = into[console.Samples](t, at+daysOf+over)
		if n := len(p.asked()); n != 0 {
			t.Errorf("the same again asked it %d times more", n)
		}
		for _, path := range []string{"/?range=", "/databases/shop.eu/boxes/outbox?range="} {
			_, page := get(t, at+path+over)
			if _, faults := pagetest.Read(page); len(faults) > 0 {
				t.Errorf("%s: %s", path, strings.Join(faults, "\n"))
			}
			if strings.Count(page, "<svg") != 5 || !strings.Contains(page, "p50: 39ms now, at most 39ms. p99: 615ms now") || !strings.Contains(page, "<b>"+over+"</b>") {
				t.Errorf("%s is\n%s", path, page)
			}
		}
		p.asked()
	}
}

func TestPrometheusIsAskedOnlyForBoxesThatMayBeSeen(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		if w := r.ask(http.MethodGet, "/api/v1/databases/shop/boxes/outbox/samples?range=7d"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "set console.prometheus.url") {
			t.Errorf("without Prometheus it answers %d: %s", w.Code, w.Body)
		}
		if w := r.ask(http.MethodGet, "/?range=7d"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "set console.prometheus.url") {
			t.Errorf("without Prometheus the page answers %d: %s", w.Code, w.Body)
		}
	})
	p := &prometheus{}
	h, _ := withPrometheus(t, p)
	r := &running{h: h}
	ann := &console.User{Name: "ann", Rights: rights(t, "viewer@shop.eu/outbox")}
	r.askAs(ann, "/?range=1h")
	asked := p.asked()
	if len(asked) != 8 || slices.ContainsFunc(asked, func(q string) bool { return !strings.Contains(q, `box=~"outbox",`) }) {
		t.Errorf("for one who may see one box it was asked %v", asked)
	}
	r.askAs(&console.User{Name: "bea", Rights: rights(t, "viewer")}, "/?range=1h")
	if asked := p.asked(); len(asked) != 8 || slices.ContainsFunc(asked, func(q string) bool { return strings.Contains(q, `box=~`) }) {
		t.Errorf("for one who may see all it was asked %v", asked)
	}
	r.askAs(&console.User{Name: "cid", Rights: rights(t, "viewer@shop.eu/none")}, "/?range=1h")
	if asked := p.asked(); len(asked) != 0 {
		t.Errorf("for one who may see nothing it was asked %v", asked)
	}
}

// A relay with one store has no label store, so that its metrics may be those of any database.
func TestAConsoleOfTwoDatabasesAsksForTheOneByItsName(t *testing.T) {
	t.Parallel()
	p := &prometheus{}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	h, err := console.New(console.Options{
		Databases:  []console.Database{{Name: "a", Store: created(t, memstore.New(memstore.Options{}))}, {Name: "b", Store: created(t, memstore.New(memstore.Options{}))}},
		Prometheus: &console.Prometheus{URL: server.URL + "/prom"},
	})
	if err != nil {
		t.Fatal(err)
	}
	answered(h, "/api/v1/databases/a/samples?range=1d")
	if asked := p.asked(); len(asked) != 8 || slices.ContainsFunc(asked, func(q string) bool { return !strings.Contains(q, `store="a",`) }) {
		t.Errorf("it was asked %v", asked)
	}
}

func TestNoChartWaitsForAPrometheusThatWasAwayAMomentAgo(t *testing.T) {
	t.Parallel()
	p := &prometheus{}
	server := httptest.NewServer(p)
	server.Close()
	var tries atomic.Int64
	h, err := console.New(console.Options{
		Databases: []console.Database{{Name: "shop", Store: created(t, memstore.New(memstore.Options{}))}},
		Prometheus: &console.Prometheus{URL: server.URL, Client: &http.Client{Transport: counting(func(r *http.Request) (*http.Response, error) {
			tries.Add(1)
			return http.DefaultTransport.RoundTrip(r)
		})}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, over := range []string{"1h", "6h", "1d", "7d"} {
		if w := answered(h, "/api/v1/databases/shop/samples?range="+over); w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), "cannot be reached") {
			t.Errorf("of %s it answers %d: %s", over, w.Code, w.Body)
		}
	}
	if n := tries.Load(); n != 8 {
		t.Errorf("it was tried %d times, want the eight questions of the first view", n)
	}
}

// answered is the answer of a console to a request of nobody in particular.
func answered(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return w
}

// counting is a transport that is a function.
type counting func(*http.Request) (*http.Response, error)

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

func TestAPrometheusThatDoesNotAnswerLeavesThePageAsItIs(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]*prometheus{
		"Prometheus did not answer in time":                                {holds: true},
		"Prometheus refuses: query processing would load too many samples": {code: 422, body: `{"status":"error","errorType":"execution","error":"query processing would load too many samples"}`},
		"Prometheus answers 502 Bad Gateway":                               {code: 502, body: "<h1>Bad gateway</h1>"},
		"what answers is not Prometheus":                                   {code: 200, body: "<h1>Welcome</h1>"},
		"Prometheus has nothing of this":                                   {empty: true},
		"or answers too much":                                              {code: 200, body: `{"status":"success","data":"` + strings.Repeat("x", 5<<20) + `"}`},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, at := withPrometheus(t, p)
			response, page := get(t, at+"/databases/shop.eu/boxes/outbox?range=7d")
			if response.StatusCode != http.StatusOK || !strings.Contains(page, want) || !strings.Contains(page, "Subscriptions</h2>") {
				t.Errorf("the page answers %s:\n%s", response.Status, page)
			}
			if response, body := get(t, at+daysOf+"7d"); !p.empty && (response.StatusCode != http.StatusBadGateway || !strings.Contains(body, want)) || p.empty && body != "{\"samples\":[]}\n" {
				t.Errorf("the API answers %s: %s", response.Status, body)
			}
		})
	}
}

func TestOptionsOfPrometheusThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	m := memstore.New(memstore.Options{})
	for _, p := range []*console.Prometheus{
		{}, {URL: "127.0.0.1:9090"}, {URL: "ftp://a"}, {URL: "http://user:pass@a"}, {URL: "http://a?x=1"}, {URL: "http://a", Labels: map[string]string{"a-b": "c"}},
	} {
		if _, err := console.New(console.Options{Prometheus: p, Databases: []console.Database{{Name: "shop", Store: m}}}); err == nil || !strings.Contains(err.Error(), "Prometheus") {
			t.Errorf("%+v gives %v", p, err)
		}
	}
}

// meeting answers nothing until it is asked for all of some databases at the same time.
type meeting struct {
	prometheus

	mu   sync.Mutex
	left []string
	all  chan struct{}
}

func (m *meeting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.FormValue("query")
	m.mu.Lock()
	before := len(m.left)
	m.left = slices.DeleteFunc(m.left, func(name string) bool { return strings.Contains(query, `store="`+name+`"`) })
	if before > 0 && len(m.left) == 0 {
		close(m.all)
	}
	m.mu.Unlock()
	select {
	case <-m.all:
		m.prometheus.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

func TestAPageOfManyDatabasesAsksPrometheusForAllOfThemAtOnce(t *testing.T) {
	t.Parallel()
	m := &meeting{left: []string{"shop", "shop2", "shop3"}, all: make(chan struct{})}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	at := serve(t, console.Options{Prometheus: &console.Prometheus{URL: server.URL + "/prom"}}, created(t, memstore.New(memstore.Options{})), created(t, memstore.New(memstore.Options{})), created(t, memstore.New(memstore.Options{})))
	_, page := get(t, at+"/?range=1d")
	if strings.Contains(page, "did not answer in time") || strings.Count(page, "<svg") < 3 {
		t.Errorf("it asked for one database after another: %d charts, and\n%s", strings.Count(page, "<svg"), page)
	}
}
