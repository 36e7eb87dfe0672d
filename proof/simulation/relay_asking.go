package simulation

import "time"

// errand is what a relay asks of the store.
type errand interface {
	// act is carried out there, when the call gets there.
	act() error
	// answered is carried out in the relay when the answer gets there, or when it
	// gives up.
	answered(err error)
	// over has the errand know that nothing will happen to it any more.
	over()
}

// asking is a call to the store under way.
type asking struct {
	r       *relay
	errand  errand
	back    time.Duration // that the answer takes
	err     error         // the answer
	lost    bool          // it gets lost
	hanging int
	ended   bool // answered, or given up
	events  int  // that are to come
}

// What happens to a call.
const (
	askArrives  what = iota // at the store
	askAnswered             // in the relay
	askTimeout              // the relay gives up
)

// ask makes a call to the store.
func (r *relay) ask(a *asking, e errand, timeout time.Duration) {
	w := r.w
	*a = asking{r: r, errand: e}
	r.pending++
	there, back := w.lag(), w.lag()
	a.back = back
	switch {
	case w.hangs(a): // and nothing of it is carried out
		a.plan(r.own(timeout), r, askTimeout)
		return
	case w.fault(LostRequests, 10):
		a.err = errLost
		a.plan(there, r, askAnswered)
		return
	case w.fault(HungCalls, 4):
		there += time.Duration(w.below(int(hungFor/time.Second))) * time.Second
		a.plan(r.own(timeout), r, askTimeout)
		a.hanging = 1
	case w.fault(SlowCalls, 20):
		there += time.Duration(w.below(3000)) * time.Millisecond
		a.hanging = 1
	}
	r.hanging += a.hanging
	a.lost = w.fault(LostAnswers, 10)
	a.send(there)
}

// hungFor is longer than a call hangs before it gets to the store.
const hungFor = time.Minute

// send has the call get to the store after a time, whatever becomes of the relay.
func (a *asking) send(there time.Duration) {
	if a.beats() {
		a.r.w.coming++
	}
	a.plan(there, nil, askArrives)
}

// beats says that the call is a heartbeat.
func (a *asking) beats() bool {
	_, is := a.errand.(*beating)
	return is
}

func (a *asking) plan(d time.Duration, who *relay, as what) {
	a.events++
	a.r.w.schedule(d, who, a, as)
}

func (a *asking) happen(as what) {
	a.events--
	switch as {
	case askArrives:
		if a.beats() {
			a.r.w.coming--
		}
		a.err = a.errand.act()
		if a.lost {
			a.err = errLost
		}
		a.plan(a.back, a.r, askAnswered)
	case askAnswered:
		a.end(a.err)
	case askTimeout:
		a.end(errTimeout)
	}
	if a.events == 0 {
		a.errand.over()
	}
}

func (a *asking) end(err error) {
	if a.ended {
		return
	}
	a.ended = true
	r := a.r
	r.pending--
	r.worked++
	r.hanging -= a.hanging
	a.errand.answered(err)
	r.wake()
}
