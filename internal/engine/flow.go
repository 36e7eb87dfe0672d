package engine

import "time"

// Flow is one subscription on one relay. It is used by one goroutine at a time.
type Flow struct {
	cfg     Config
	pollMax time.Duration
	expires time.Duration // nothing is sent after it
	zero    time.Time     // what the database's clock showed at time zero, if that is known
	paused  bool
	quiet   bool

	shards []*shard
	bySlot [slotCount]*shard
	groups []*group      // the first one leads
	meetBy time.Duration // when groups that wait for each other part; zero: none does

	again, retry queue
	suspects     queue // those that are called alone, see call_count.go
	ready        lineup
	unreadable   queue // their turn has come
	calls        []*Call
	lastCall     int64
	scratch      []*entry // of the call being made
	circuit      circuit
	rate         *limiter      // nil: no bound
	slowAt       time.Duration // when to look for slow calls; zero: no need
	longest      time.Duration // about the longest that an acceptance took lately
	stopping     stopping

	hand    map[int64]*entry // parked messages being tried
	due     parking
	topics  topics
	pausing pausing
	spare   []*chain

	passing map[string]*passing // by topic, of messages in doubt
	doubts  map[int64]keptDoubt // of parked messages

	old      bool  // a call met a message that is too old
	out      int   // sent, and not answered or not settled
	above    int   // while more may be out than InFlight says now, see lower
	unsent   int   // read and not sent
	rows     int   // of the pages of all windows
	window   load  // what is in hand of windows weighs
	lot      load  // and what is in hand of the parking lot
	accepted int64 // acceptances so far

	dirty    bool // something waits for a settlement, since resolved
	urgent   bool // and must not wait
	resolved time.Duration
	moved    bool // a position moved over nothing, since movedAt
	movedAt  time.Duration
	round    round

	deaths     []Death
	moreDeaths int // that deaths has no place for

	stats Stats
	stray error // the first move that is not in life
}

const slotCount = 4096

// Stats counts what a flow has done. All counts only grow but those from
// Unsettled to Held.
type Stats struct {
	Read, Sent, Accepted, Rejected, Unknown, Parked, Dead, Delivered, Filtered, Discarded, Superseded, Settles, Lost, Opened int64
	// DeadBy are the Dead by their store.DeathCause.
	DeadBy [4]int64
	// Unsettled is how many messages were sent and are not answered or not
	// settled, Unsent how many were read and not sent, Chains of how many keys
	// something is known, Bytes what the messages in hand weigh.
	Unsettled, Unsent, Chains, Bytes int
	// Topics is how many topics do not work, Held how many messages wait for such, or for
	// the end of a pause.
	Topics, Held int
	// Throttled is for how long, until the last Next, messages could have been sent but
	// for the rate. It only grows.
	Throttled time.Duration
}

// NewFlow returns a flow without shards. c is taken after Normal.
func NewFlow(c Config) *Flow {
	f := new(Flow)
	f.Renew(c)
	return f
}

// Renew makes f what NewFlow returns, in the memory that it has. What it was asked
// for, or told, before is forgotten.
func (f *Flow) Renew(c Config) {
	c = c.Normal()
	*f = Flow{cfg: c, pollMax: c.PollMax, hand: make(map[int64]*entry), rate: newLimiter(c.Rate)}
}

// Expire says until when the leases are good. Nothing is sent later, nor after a
// settlement was refused, until Expire is called again.
func (f *Flow) Expire(at time.Duration) { f.expires = at }

// Pause holds the sending and reading of a subscription, or lets it go on.
func (f *Flow) Pause(paused bool) { f.paused = paused }

// Calm forgets how the destination is, once there is nothing to be sent to it.
func (f *Flow) Calm() { f.circuit = circuit{} }

// PollMax bounds the time between reads that find nothing, from now on.
func (f *Flow) PollMax(d time.Duration) { f.pollMax = max(d, f.cfg.PollMin) }

// Woken says that there may be new messages.
func (f *Flow) Woken() {
	for _, l := range f.groups {
		l.nextPoll, l.woken, l.hint = 0, l.reading, true
	}
}

// Quiesce asks the flow to bring all its shards to one position with nothing in
// hand, so that they can be reshaped, or to go on as usual. Parked messages are left
// to their rows: one that were sent once the flow is quiet would be sent again by
// the owner after the reshape.
func (f *Flow) Quiesce(on bool) {
	f.quiet = on
	if !on {
		return
	}
	for _, e := range f.hand {
		if e.state != sent {
			f.leaveToRow(e)
		}
	}
}

// Quiet says that a quiesced flow is ready: one group, nothing in hand, and the
// store knows its position.
func (f *Flow) Quiet() bool {
	if !f.quiet || f.round.out || len(f.groups) != 1 || len(f.calls) > 0 || len(f.hand) > 0 {
		return false
	}
	l := f.groups[0]
	if !l.empty() || l.unsettled() {
		return false
	}
	for _, s := range l.shards {
		if s.settled != l.read || s.leaving != nil {
			return false
		}
	}
	return true
}

// Limits returns the most that Unsettled, Held and Bytes of Stats are to be. Held and Bytes may
// go a little beyond.
func (f *Flow) Limits() (unsettled, held, bytes int) {
	return f.cfg.InFlight, f.cfg.MaxHeld, f.cfg.Buffer
}

// Circuit returns whether the destination is being used.
func (f *Flow) Circuit() CircuitState { return f.circuit.state }

// Stats returns the counts so far.
func (f *Flow) Stats() Stats {
	s := f.stats
	s.Unsettled, s.Unsent, s.Held = f.out, f.unsent, f.topics.held
	s.Bytes = f.window.held + f.lot.held
	if f.rate != nil {
		s.Throttled += f.rate.throttled
	}
	for _, t := range f.topics.list {
		if !t.works() && !t.paused {
			s.Topics++
		}
	}
	for _, sh := range f.shards {
		s.Chains += sh.chains.len()
	}
	return s
}
