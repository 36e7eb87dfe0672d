package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Prometheus is where a console finds what its own samples do not reach: days, and how long messages took to be delivered.
type Prometheus struct {
	// URL is its address, such as http://127.0.0.1:9090, or that of a path that its API is below.
	URL string
	// Labels select the metrics of these relays, if it has others too, such as job: postbag.
	Labels map[string]string
	// Client asks it. Nil: http.DefaultClient.
	Client *http.Client
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

func (p *Prometheus) faults() (faults []error) {
	if u, err := url.Parse(p.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		faults = append(faults, errors.New("console: the URL of Prometheus is none; write one such as http://127.0.0.1:9090, without a user"))
	}
	for name := range p.Labels {
		if !labelName.MatchString(name) {
			faults = append(faults, fmt.Errorf("console: Prometheus has no label %.80q; write its name with letters, digits and _", name))
		}
	}
	return faults
}

const (
	// daysFor is how long all questions of one view may take, and mostDays how much an answer may have.
	daysFor, mostDays = 5 * time.Second, 4 << 20
	// mostKept is how many views are kept, and mostAsked how many are asked for at a time.
	mostKept, mostAsked = 64, 4
)

// errAway is the error of a Prometheus that does not answer.
var errAway = errors.New("Prometheus is away")

// awayError is errAway, in words for people.
type awayError string

func (e awayError) Error() string { return string(e) }

// Unwrap says that it is errAway.
func (awayError) Unwrap() error { return errAway }

// days asks Prometheus. It may be used concurrently.
type days struct {
	p *Prometheus
	// alone: the console shows one database.
	alone bool
	// place has those who ask.
	place chan struct{}

	mu   sync.Mutex
	kept map[string]keptDays
	// down says why Prometheus did not answer, until a while later: no other view waits for it then.
	down keptDays
}

// keptDays is what a view was a while ago.
type keptDays struct {
	samples []Sample
	err     error
	until   time.Time
}

func newDays(p *Prometheus, alone bool) *days {
	if p == nil {
		return nil
	}
	return &days{p: p, alone: alone, place: make(chan struct{}, mostAsked), kept: make(map[string]keptDays)}
}

// samples returns what boxes of a database were like over a time. No boxes: all.
func (d *days) samples(ctx context.Context, database string, boxes []string, over string) ([]Sample, error) {
	at := slices.IndexFunc(spans, func(s chartSpan) bool { return s.name == over })
	if at < 0 {
		return nil, badRequestf("range is no time that charts show; write 1h, 6h, 1d or 7d")
	}
	if d == nil {
		return nil, badRequestf("this console asks no Prometheus; set console.prometheus.url in its file, or leave out range")
	}
	if boxes != nil && len(boxes) == 0 {
		return []Sample{}, nil
	}
	slices.Sort(boxes)
	key := fmt.Sprintf("%s %q %s", database, boxes, over)
	if v, is := d.recent(key); is {
		return v.samples, v.err
	}
	ctx, cancel := context.WithTimeout(ctx, daysFor)
	defer cancel()
	select {
	case d.place <- struct{}{}:
	case <-ctx.Done():
		return nil, errors.New("Prometheus is asked as much as it may already; try again in a moment")
	}
	defer func() { <-d.place }()
	if v, is := d.recent(key); is { // somebody asked while this waited
		return v.samples, v.err
	}
	all, err := d.ask(ctx, d.p.selector(database, d.alone, boxes), spans[at].long)
	if errors.Is(ctx.Err(), context.Canceled) { // the one who asked has gone
		return nil, err
	}
	d.keep(key, keptDays{all, err, time.Now().Add(max(spans[at].long/dots/2, 10*time.Second))})
	return all, err
}

func (d *days) recent(key string) (keptDays, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v, is := d.kept[key]; is && time.Now().Before(v.until) {
		return v, true
	}
	return d.down, time.Now().Before(d.down.until)
}

func (d *days) keep(key string, v keptDays) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.err != nil {
		v.until = time.Now().Add(10 * time.Second)
		if errors.Is(v.err, errAway) {
			d.down = v
		}
	}
	maps.DeleteFunc(d.kept, func(_ string, old keptDays) bool { return time.Now().After(old.until) })
	if len(d.kept) >= mostKept {
		clear(d.kept)
	}
	d.kept[key] = v
}

// selector selects metrics of boxes. A relay with one store has no label store, which tells nothing where there are several databases.
func (p *Prometheus) selector(database string, alone bool, boxes []string) string {
	of := `store=` + promText(database)
	if alone {
		of = `store=~` + promText("|"+regexp.QuoteMeta(database))
	}
	all := []string{of, `subscription!~"replay-.*"`}
	if boxes != nil {
		names := make([]string, len(boxes))
		for i, b := range boxes {
			names[i] = regexp.QuoteMeta(b)
		}
		all = append(all, `box=~`+promText(strings.Join(names, "|")))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
		all = append(all, name+"="+promText(p.Labels[name]))
	}
	return strings.Join(all, ",")
}

// promText is a text as the language of Prometheus has it.
func promText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// questions are all, each with the place of its answer. What the store knows is the same on every relay, so the highest is taken.
var questions = []struct {
	query string
	to    func(*Sample) **float64
}{
	{`sum(max by (box) (rate(postbag_log_last_seq{SELECTOR}[WINDOW])))`, func(s *Sample) **float64 { return &s.Published }},
	{`sum(max by (box, subscription) (rate(postbag_store_delivered_messages_total{SELECTOR}[WINDOW])))`, func(s *Sample) **float64 { return &s.Delivered }},
	{`sum(max by (box, subscription) (postbag_backlog{SELECTOR}))`, func(s *Sample) **float64 { return &s.Waiting }},
	{`max(postbag_oldest_seconds{SELECTOR})`, func(s *Sample) **float64 { return &s.Oldest }},
	{`sum(max by (box, subscription) (postbag_parked{SELECTOR,state="dead"}))`, func(s *Sample) **float64 { return &s.Dead }},
	{`sum(max by (box, subscription, state) (postbag_parked{SELECTOR,state!="dead"}))`, func(s *Sample) **float64 { return &s.Parked }},
	{`histogram_quantile(0.5, sum by (le) (rate(postbag_delivery_latency_seconds_bucket{SELECTOR}[WINDOW])))`, func(s *Sample) **float64 { return &s.Half }},
	{`histogram_quantile(0.99, sum by (le) (rate(postbag_delivery_latency_seconds_bucket{SELECTOR}[WINDOW])))`, func(s *Sample) **float64 { return &s.Most }},
}

// ask asks all questions side by side.
func (d *days) ask(ctx context.Context, selector string, span time.Duration) ([]Sample, error) {
	step := span / dots
	end := time.Now().Round(0).Truncate(10 * time.Second)
	window := max(2*step, 2*time.Minute) // of several scrapes
	answers, errs := make([]map[int64]float64, len(questions)), make([]error, len(questions))
	var all sync.WaitGroup
	for i, one := range questions {
		all.Go(func() {
			query := strings.NewReplacer("SELECTOR", selector, "WINDOW", strconv.Itoa(int(window.Seconds()))+"s").Replace(one.query)
			answers[i], errs[i] = d.p.values(ctx, query, end.Add(-span+step), end, step)
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	out := []Sample{}
	for at := end.Add(-span + step); !at.After(end); at = at.Add(step) {
		s, known := Sample{At: at.UTC()}, false
		for i, one := range questions {
			if v, is := answers[i][at.Unix()]; is {
				*one.to(&s), known = &v, true
			}
		}
		if known {
			out = append(out, s)
		}
	}
	return out, nil
}

// matrix is an answer of query_range, as its API is documented.
type matrix struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		ResultType string `json:"resultType"`
		Result     []struct {
			Values [][2]any `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

// values asks one question, whose answer is one series or none, by Unix time.
func (p *Prometheus) values(ctx context.Context, query string, start, end time.Time, step time.Duration) (map[int64]float64, error) {
	form := url.Values{
		"query": {query}, "start": {strconv.FormatInt(start.Unix(), 10)}, "end": {strconv.FormatInt(end.Unix(), 10)},
		"step": {strconv.Itoa(int(step.Seconds()))}, "timeout": {daysFor.String()},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(p.URL, "/")+"/api/v1/query_range", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := cmp.Or(p.Client, http.DefaultClient).Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, awayError("Prometheus did not answer in time; try a shorter time, or look whether it is overloaded")
		}
		return nil, awayError("Prometheus cannot be reached; look whether it runs, and at console.prometheus.url")
	}
	defer func() { _ = response.Body.Close() }()
	var m matrix
	err = json.NewDecoder(io.LimitReader(response.Body, mostDays)).Decode(&m)
	switch {
	case err != nil && response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("Prometheus answers %s; look at console.prometheus.url, and at what stands before it", response.Status)
	case err != nil || m.Status == "success" && m.Data.ResultType != "matrix":
		return nil, errors.New("what answers is not Prometheus, or answers too much; look at console.prometheus.url")
	case m.Status != "success":
		return nil, fmt.Errorf("Prometheus refuses: %.300s", m.Error)
	case len(m.Data.Result) == 0:
		return nil, nil //nolint:nilnil // it has nothing of this
	}
	out := make(map[int64]float64)
	for _, pair := range m.Data.Result[0].Values {
		at, is := pair[0].(float64)
		text, written := pair[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if is && written && err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[int64(at)] = v
		}
	}
	return out, nil
}
