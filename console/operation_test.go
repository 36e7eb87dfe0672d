package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/internal/pagetest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// manyDead fills a store with n messages that are dead with one kind of error.
func manyDead(t *testing.T, m *memstore.Store, n int) {
	t.Helper()
	d := boxtest.New(t, m)
	msgs := boxtest.Messages(n, "")
	d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "outbox", msgs) }))
	rows := d.Read()
	parks := make([]store.Park, len(rows))
	for i, r := range rows {
		parks[i] = store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkDead, Attempts: 1, Reason: fmt.Sprintf("order %d is unknown", i)}
	}
	d.Settle(&d.Lease, store.Settlement{To: d.At, Park: parks, Tally: boxtest.Tally(store.TallyParked, rows...)})
}

// atWork serves a console that runs, of a store with n dead messages.
func atWork(t *testing.T, n int) string {
	t.Helper()
	m := created(t, memstore.New(memstore.Options{}))
	manyDead(t, m, n)
	o := commanding
	o.Databases = []console.Database{{Name: "shop", Store: m}}
	h, err := console.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Run(t.Context()) }()
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

const operationsAt = "/api/v1" + boxPage + "/operations"

// comesTo asks for an operation until it is as it is to be.
func comesTo(t *testing.T, at, what string, is func(*operations.Operation) bool) (o operations.Operation) {
	t.Helper()
	patience := time.NewTimer(20 * time.Second)
	defer patience.Stop()
	for {
		if o = into[operations.Operation](t, at+operationsAt+"/1"); is(&o) {
			return o
		}
		select {
		case <-patience.C:
			t.Fatalf("the operation is %+v, and not %s", o, what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// inState asks for an operation until it is in a state.
func inState(t *testing.T, at string, state store.OperationState) operations.Operation {
	t.Helper()
	return comesTo(t, at, string(state), func(o *operations.Operation) bool { return o.State == state })
}

// begin is the form that begins an operation over all that were counted.
func begin(t *testing.T, at, filters, do string) url.Values {
	t.Helper()
	was := into[operations.Matched](t, at+operationsAt+"/preview?"+filters)
	fields, err := url.ParseQuery(filters)
	if err != nil {
		t.Fatal(err)
	}
	n := strconv.Itoa(was.Messages)
	for name, value := range map[string]string{"do": do, "messages": n, "confirm": n, "as_of": was.AsOf.Format(time.RFC3339Nano), "why": "they are known now"} {
		fields.Set(name, value)
	}
	return fields
}

func TestAnOperatorRetriesAllOfAKindOfErrorAsAnOperation(t *testing.T) {
	t.Parallel()
	at := atWork(t, 620)
	preview := linked(t, at+boxPage+"/errors", "Count all of this kind, for an operation")
	_, body := get(t, preview)
	if _, faults := pagetest.Read(body); len(faults) > 0 || !strings.Contains(body, "620 dead messages match") || !strings.Contains(body, ">Retry 620<") || !strings.Contains(body, `name="kind" value="order N is unknown"`) {
		t.Fatalf("the page that counts them has no form, or faults %v:\n%s", faults, body)
	}
	_, filters, _ := strings.Cut(preview, "?")
	fields := begin(t, at, filters, "retry")
	fields.Set("confirm", "62")
	if response, body := post(t, at+boxPage+"/operations/commands", fields); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "confirm is not the number") {
		t.Fatalf("of another number it answers %s: %s", response.Status, body)
	}
	fields.Set("confirm", "620")
	response, body := post(t, at+boxPage+"/operations/commands", fields)
	if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || to != "./1" {
		t.Fatalf("it answers %s with %q: %s", response.Status, to, body)
	}
	if o := inState(t, at, store.OperationDone); o.Given != 620 || o.Who != "ann@desk" || o.Why != "they are known now" {
		t.Errorf("in the end it is %+v", o)
	}
	for _, page := range []string{boxPage + "/operations", boxPage + "/operations/1", "/databases/shop/operations"} {
		_, body := get(t, at+page)
		if _, faults := pagetest.Read(body); len(faults) > 0 || !strings.Contains(body, `value="620" max="620"`) || !strings.Contains(body, "they are known now") {
			t.Errorf("%s does not show it, or has faults %v:\n%s", page, faults, body)
		}
	}
	if _, body := get(t, at+boxPage+"/operations/1"); strings.Contains(body, "<form class=\"command\"") || !strings.Contains(body, "order N is unknown") {
		t.Errorf("its page has a form, or does not say how they were chosen:\n%s", body)
	}
	if lines := into[console.Audit](t, at+"/api/v1/databases/shop/audit").Lines; len(lines) != 2 || !strings.Contains(lines[0].What, "620 given") {
		t.Errorf("the audit log says %+v", lines)
	}
}

func TestTheMessagesThatFiltersSelectAreCountedForAnOperation(t *testing.T) {
	t.Parallel()
	at := atWork(t, 501)
	counted := linked(t, at+boxPage+"/messages?state=dead&error=order", "Count all that match, for a command")
	_, body := get(t, linked(t, counted, "Count all of them, for an operation"))
	if !strings.Contains(body, "501 dead messages match") || !strings.Contains(body, `name="error" value="order"`) {
		t.Errorf("the page that counts them is:\n%s", body)
	}
	if _, body := get(t, at+boxPage+"/operations/preview?error=nothing"); !strings.Contains(body, "No dead message matches.") {
		t.Errorf("where none matches the page is:\n%s", body)
	}
}

func TestAnOperationIsPausedResumedAndCancelledOnItsPage(t *testing.T) {
	t.Parallel()
	at := atWork(t, 40)
	fields := begin(t, at, "state=dead", "discard")
	fields.Set("rate", "10")
	if response, body := post(t, at+operationsAt+"/commands", fields); response.StatusCode != http.StatusOK || body != "{\"operation\":1}\n" {
		t.Fatalf("it answers %s: %s", response.Status, body)
	}
	set := func(do, why string, state store.OperationState) operations.Operation {
		t.Helper()
		page := boxPage + "/operations/1"
		if _, body := get(t, at+page); !strings.Contains(body, `value="`+do+`"`) {
			t.Errorf("the page has no button to %s:\n%s", do, body)
		}
		response, body := post(t, at+page+"/commands", url.Values{"do": {do}, "why": {why}})
		if to := response.Header.Get("Location"); response.StatusCode != http.StatusSeeOther || to != "../1" {
			t.Fatalf("to %s answers %s with %q: %s", do, response.Status, to, body)
		}
		return inState(t, at, state)
	}
	paused := set("pause", "the endpoint is slow", store.OperationPaused)
	if paused.At >= 40 || paused.By != "ann@desk" || paused.ByWhy != "the endpoint is slow" {
		t.Errorf("paused it is %+v", paused)
	}
	set("resume", "it is fast again", store.OperationRunning)
	comesTo(t, at, "further than before the pause", func(o *operations.Operation) bool { return o.At > paused.At })
	if o := set("cancel", "they are the wrong ones", store.OperationCancelled); o.At >= 40 || o.Matched != 40 {
		t.Errorf("cancelled it is %+v", o)
	}
	for do, says := range map[string]string{"resume": "cannot be running any more", "fly": "neither pause nor resume nor cancel"} {
		if response, body := post(t, at+operationsAt+"/1/commands", url.Values{"do": {do}, "why": {"x"}}); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, says) {
			t.Errorf("to %s a cancelled operation answers %s: %s", do, response.Status, body)
		}
	}
	if response, _ := post(t, at+operationsAt+"/2/commands", url.Values{"do": {"pause"}, "why": {"x"}}); response.StatusCode != http.StatusNotFound {
		t.Errorf("an operation that is not there answers %s", response.Status)
	}
}

func TestAnOperationThatIsWrongDoesNotBegin(t *testing.T) {
	t.Parallel()
	at := atWork(t, 3)
	for _, c := range []struct{ name, value, says string }{
		{"messages", "", "no number above zero"},
		{"messages", "2", "confirm is not the number"},
		{"confirm", "", "confirm is not the number"},
		{"as_of", "now", "as_of is no time"},
		{"as_of", "2999-01-01T00:00:00Z", "lies in the future"},
		{"rate", "0", "rate is no number"},
		{"why", "", "say why"},
		{"do", "delete", "neither retry nor discard"},
		{"state", "delivered", "takes no discard"},
		{"cursor", "1.0", "no field"},
	} {
		fields := begin(t, at, "state=dead", "discard")
		fields.Set(c.name, c.value)
		if response, body := post(t, at+operationsAt+"/commands", fields); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, c.says) {
			t.Errorf("with %s %q it answers %s: %s", c.name, c.value, response.Status, body)
		}
	}
	if all := into[console.Operations](t, at+operationsAt).Operations; len(all) > 0 {
		t.Errorf("there are operations %+v", all)
	}
	idle := serve(t, commanding, box(t))
	if response, body := post(t, idle+operationsAt+"/commands", begin(t, idle, "state=dead", "retry")); response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "does not call Run") {
		t.Errorf("a console that does not run answers %s: %s", response.Status, body)
	}
}

// An operation whose process has ended is taken over. One that somebody has just begun elsewhere is left to them.
func TestAConsoleThatTakesCommandsGoesOnWithWhatNobodyWorks(t *testing.T) {
	t.Parallel()
	for name, commands := range map[string]bool{"a console with commands": true, "a console without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inRunning(t, console.Options{Commands: commands, Who: "ann"}, func(t *testing.T, r *running) {
				manyDead(t, r.Store, 3)
				s, err := operations.Of(r.Store)
				if err != nil {
					t.Fatal(err)
				}
				match := operations.Match{Query: store.Query{Ref: boxtest.Outbox, State: store.StateDead}}
				was, err := s.CountMatched(t.Context(), match, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				p, err := s.PreviewMatched(t.Context(), match, store.Discard, was)
				if err != nil {
					t.Fatal(err)
				}
				id, err := s.StartOperation(t.Context(), p, store.Audit{Who: "bea", Why: "a test"}, 0)
				if err != nil {
					t.Fatal(err)
				}
				r.pass(15 * time.Second)
				if o, err := s.Operation(t.Context(), id); err != nil || o.State != store.OperationRunning || o.At != 0 {
					t.Errorf("at first it is %+v: %v", o, err)
				}
				r.pass(2 * time.Minute)
				want := map[bool]store.OperationState{true: store.OperationDone, false: store.OperationRunning}[commands]
				if o, err := s.Operation(t.Context(), id); err != nil || o.State != want {
					t.Errorf("in the end it is %+v: %v", o, err)
				}
			})
		})
	}
}

// When the console ends, the record stays, and another process can take it at once.
func TestAnOperationOutlivesTheConsole(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{Commands: true, Who: "ann"}, func(t *testing.T, r *running) {
		manyDead(t, r.Store, 40)
		v := r.ask(http.MethodGet, operationsAt+"/preview")
		if v.Code != http.StatusOK {
			t.Fatalf("it answers %d: %s", v.Code, v.Body)
		}
		s, err := operations.Of(r.Store)
		if err != nil {
			t.Fatal(err)
		}
		now, err := r.Clock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		form := url.Values{"do": {"discard"}, "messages": {"40"}, "confirm": {"40"}, "as_of": {now.Format(time.RFC3339Nano)}, "rate": {"10"}, "why": {"x"}}
		request := httptest.NewRequest(http.MethodPost, operationsAt+"/commands", strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		r.h.ServeHTTP(w, request)
		if w.Code != http.StatusOK {
			t.Fatalf("it answers %d: %s", w.Code, w.Body)
		}
		r.pass(2 * time.Second)
		r.end()
		r.pass(time.Second)
		o, err := s.Operation(t.Context(), 1)
		if err != nil || o.State != store.OperationRunning || !o.Idle || o.At == 0 || o.At == 40 {
			t.Fatalf("it is left as %+v: %v", o, err)
		}
		if at, err := s.Work(1, store.Audit{Who: "bea", Why: "go on"}, "another").Do(t.Context()); err != nil || at.Queued != 40 {
			t.Errorf("the next process says %+v: %v", at, err)
		}
	})
}

// Who looks sees what keeps an operation, and that nobody has to do anything for it to go on.
func TestAPageShowsTheTroubleOfAnOperation(t *testing.T) {
	t.Parallel()
	m := box(t)
	manyDead(t, m, 3)
	s, err := operations.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Preview(t.Context(), operations.Choice{Ref: boxtest.Outbox, Kind: store.Discard, All: true, Filter: "--all"})
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.StartOperation(t.Context(), p, store.Audit{Who: "bea", Why: "a test"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := m.ClaimOperation(t.Context(), id, "a process", time.Minute)
	if err == nil {
		_, err = m.StepOperation(t.Context(), store.OperationClaim{ID: id, Token: o.Token, Lease: time.Minute, Trouble: "the disk is full"}, 0, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	at := serve(t, commanding, m)
	if _, page := get(t, at+boxPage+"/operations/"+fmt.Sprint(id)); !strings.Contains(page, "It does not go on at the moment: the disk is full") || !strings.Contains(page, "tries again by itself") || strings.Contains(page, "It failed") {
		t.Errorf("the page says\n%s", page)
	}
	if _, page := get(t, at+boxPage+"/operations"); !strings.Contains(page, "in trouble") {
		t.Errorf("the list says\n%s", page)
	}
	if v := into[console.Operations](t, at+operationsAt).Operations; len(v) == 0 || v[0].ID != id || v[0].Trouble != "the disk is full" || v[0].Error != "" {
		t.Errorf("the API says %+v", v)
	}
}

// An operation that is older than all that are listed has a page.
func TestAnOperationBehindThoseThatAreListedHasAPage(t *testing.T) {
	t.Parallel()
	m := box(t)
	now, err := m.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := store.Audit{Who: "bea", Why: "a test"}
	for range operations.MaxOperationList + 1 {
		id, err := m.PlanOperation(t.Context(), a, store.Operation{Ref: boxtest.Outbox, Kind: store.OperationDiscard, Of: store.StateDead, Matched: 1, AsOf: now})
		if err == nil {
			err = m.SetOperation(t.Context(), a, id, store.OperationCancelled)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	at := serve(t, commanding, m)
	for page, want := range map[string]int{"/operations/1": http.StatusOK, "/operations/5000": http.StatusNotFound} {
		if response, body := get(t, at+boxPage+page); response.StatusCode != want {
			t.Errorf("%s answers %s: %s", page, response.Status, body)
		}
	}
}
