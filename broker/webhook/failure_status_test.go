package webhook

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

// outcomes is the table of the reference, by status code.
func outcomes() map[broker.Outcome][]int {
	return map[broker.Outcome][]int{
		broker.Accepted:      {200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 299},
		broker.Rejected:      {400, 409, 412, 413, 415, 416, 418, 422, 424, 428, 431, 444, 499},
		broker.Misconfigured: {300, 301, 302, 303, 304, 305, 307, 308, 399, 401, 402, 403, 404, 405, 406, 407, 410, 411, 414, 417, 421, 426, 451},
		broker.Unavailable:   {408, 423, 425, 429, 500, 501, 502, 503, 504, 507, 508, 511, 520, 529, 599, 600, 999},
	}
}

func TestTheResponseStatusDecidesTheOutcome(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	s := plain(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		code, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Location", "/200")
		w.WriteHeader(code)
	})
	o := options("")
	o.URLFor = func(m broker.Delivery) (string, error) { return s.URL + "/" + m.Topic, nil }
	d := open(t, o)
	ofTopic := []int{403, 404, 405, 406, 410, 423, 451}
	sent := int64(0)
	for outcome, codes := range outcomes() {
		for _, code := range codes {
			m := sample()
			m.Topic = strconv.Itoa(code)
			sent++
			r := publish(t.Context(), d, m)
			if r.Outcome != outcome {
				t.Errorf("%d is %v, want %v", code, r.Outcome, outcome)
			}
			scope, single := broker.ScopeDestination, broker.ScopeDestination
			if outcome == broker.Misconfigured || outcome == broker.Unavailable {
				scope = broker.ScopeTopic
			}
			if slices.Contains(ofTopic, code) {
				single = broker.ScopeTopic
			}
			one := open(t, options(s.URL+"/"+m.Topic))
			sent++
			if got := publish(t.Context(), one, m); r.Scope != scope || got.Outcome != outcome || got.Scope != single {
				t.Errorf("%d has the scope %v, and %v where there is one URL; want %v and %v", code, r.Scope, got.Scope, scope, single)
			}
			if outcome == broker.Accepted {
				continue
			}
			var status *StatusError
			if !errors.As(r.Err, &status) || status.Status != code || status.Origin != s.URL {
				t.Errorf("%d: the error is %#v", code, r.Err)
			}
			if !strings.Contains(r.Err.Error(), " answered "+m.Topic) || !strings.Contains(r.Err.Error(), "; ") {
				t.Errorf("%d: the error says %q", code, r.Err)
			}
		}
	}
	if hits.Load() != sent {
		t.Errorf("%d requests arrived for %d messages: a redirect was followed or a request repeated", hits.Load(), sent)
	}
}

func TestEveryStatusHasAnOutcome(t *testing.T) {
	t.Parallel()
	for code := -1; code < 1100; code++ {
		got := StatusOutcome(code)
		if (got == broker.Accepted) != (code >= 200 && code < 300) || got == broker.Unknown || got == broker.NotSent {
			t.Errorf("%d is %v", code, got)
		}
	}
}

func TestRetryAfterIsReadAndBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := func(value string, want time.Duration) {
		t.Helper()
		if got := retryAfter(value, now, time.Hour); got != want {
			t.Errorf("%q asks for %v, want %v", value, got, want)
		}
	}
	f("", 0)
	f("0", 0)
	f("1", time.Second)
	f(" 120 ", 2*time.Minute)
	f("3600", time.Hour)
	f("3601", time.Hour)
	f("99999999999999999999999", time.Hour)
	f("9223372036854775807", time.Hour)
	f("-5", 0)
	f("1.5", 0)
	f("soon", 0)
	f("Sun, 01 Mar 2026 12:00:30 GMT", 30*time.Second)
	f("Sunday, 01-Mar-26 12:00:30 GMT", 30*time.Second)
	f("Sun Mar  1 12:00:30 2026", 30*time.Second)
	f("Sun, 01 Mar 2026 11:59:30 GMT", 0)
	f("Mon, 02 Mar 2026 12:00:00 GMT", time.Hour)
	f("Fri, 31 Dec 9999 23:59:59 GMT", time.Hour)
	f("Mon, 01 Jan 0001 00:00:00 GMT", 0)
}

func TestRetryAfterReachesTheRelay(t *testing.T) {
	t.Parallel()
	s := plain(t, func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.Header.Get("Postbag-Topic"))
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(code)
	})
	o := options(s.URL)
	o.MaxRetryAfter = 5 * time.Second
	bounded, free := open(t, o), open(t, options(s.URL))
	for topic, after := range map[string]time.Duration{"503": 7 * time.Second, "429": 7 * time.Second, "422": 0, "404": 0, "202": 0} {
		m := sample()
		m.Topic = topic
		if r := publish(t.Context(), free, m); r.After != after {
			t.Errorf("%s asks for %v, want %v", topic, r.After, after)
		}
		if r := publish(t.Context(), bounded, m); r.After != min(after, 5*time.Second) {
			t.Errorf("%s asks for %v, want 5s at most", topic, r.After)
		}
	}
}

func TestClassifyOverridesTheTable(t *testing.T) {
	t.Parallel()
	s := plain(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Postbag-Topic") != "taken" {
			w.WriteHeader(http.StatusConflict)
		}
		_, _ = io.WriteString(w, r.Header.Get("Postbag-Topic"))
	})
	o := options(s.URL)
	o.Classify = func(r *http.Response) broker.Class {
		if r.StatusCode != http.StatusConflict {
			t.Errorf("the classifier saw an answer %d", r.StatusCode)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if len(body) > maxAnswer {
			t.Errorf("the classifier saw %d bytes", len(body))
		}
		_ = r.Body.Close()
		switch string(body) {
		case "busy":
			return broker.ClassUnavailable
		case "path":
			return broker.ClassTopicMisconfigured
		case "lie":
			return 99
		}
		return broker.ClassKeep
	}
	d := open(t, o)
	for topic, outcome := range map[string]broker.Outcome{
		"taken": broker.Accepted, "busy": broker.Unavailable, "path": broker.Misconfigured, "lie": broker.Rejected,
		"other": broker.Rejected, strings.Repeat("x", 200<<10): broker.Rejected,
	} {
		m := sample()
		m.Topic = topic
		r := publish(t.Context(), d, m)
		want(t, r, outcome)
		if scoped := topic == "path"; (r.Scope == broker.ScopeTopic) != scoped {
			t.Errorf("%s has the scope %v", topic, r.Scope)
		}
	}
}
