package mqttbroker

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
)

// A broker ends a connection when another client comes with its id. Two programs that
// both connect again at once would take the connection from each other for ever. So
// who lost it waits, longer each time, and says why. Some brokers say why they end a
// connection (reason 0x8e). Others, such as Mosquitto 2.0.11, just close it, and may do
// so because of a message too: then it is a rival that took it if nothing was sent.

const (
	// firstPause is how long the destination stays away after it lost its connection to
	// another client, and maxPause the longest that it does.
	firstPause, maxPause = time.Second, time.Minute
	// peace is how long a connection must have lasted for a takeover to count as the
	// first. It is above maxPause, for which a rival may leave it alone.
	peace = 5 * time.Minute
	// doubtfulCuts is how often in a row a broker closes connections without a word
	// before new ones are left unused for a moment, quiet, to see who does it.
	// certainCuts is how often it does before the loss of any that is unused tells.
	doubtfulCuts, quiet = 3, 250 * time.Millisecond
	certainCuts         = 10
)

// takeovers are those of a destination's connections, by clients with its id.
type takeovers struct {
	row   int       // of them, without peace between
	until time.Time // when the destination may connect again
	cuts  int       // connections that the broker closed without a word, in the same way
}

// calm forgets what was before a connection that began then and ended now, if it lasted.
func (t *takeovers) calm(began, now time.Time) {
	if now.Sub(began) >= peace {
		t.row, t.cuts = 0, 0
	}
}

// lost counts a connection that began then, and ended now for another client.
func (t *takeovers) lost(began, now time.Time) {
	t.calm(began, now)
	t.until = now.Add(min(firstPause<<min(t.row, 10), maxPause))
	t.row++
}

// cut counts a connection that the broker closed without a word; unused says that no
// message can be the reason.
func (t *takeovers) cut(began, now time.Time, unused bool) {
	t.calm(began, now)
	if t.cuts++; t.cuts >= certainCuts && unused {
		t.lost(began, now)
	}
}

// rivals are the takeovers of a destination or a source. They are safe for concurrent use.
type rivals struct {
	mu   sync.Mutex
	seen takeovers
}

// tookOver notes that another client took a connection that began then.
func (r *rivals) tookOver(began time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.lost(began, time.Now())
}

// cut notes that a broker closed a connection without a word: see takeovers.cut.
func (r *rivals) cut(began time.Time, unused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.cut(began, time.Now(), unused)
}

// away is for how long the connection is left to a rival, zero if it is not.
func (r *rivals) away() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(time.Until(r.seen.until), 0)
}

// unreachable notes that a broker is not there: if it closes connections, it is for that.
func (r *rivals) unreachable() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.cuts = 0
}

// takenOver notes that the broker has ended x in favour of another client.
func (d *Destination) takenOver(x *connection) {
	d.rivals.tookOver(x.began)
	x.mu.Lock()
	x.rival = true
	x.mu.Unlock()
}

// cut notes that the broker has ended x without a word.
func (d *Destination) cut(x *connection) {
	if !d.named { // nobody else has a random id
		return
	}
	d.rivals.cut(x.began, x.unused())
}

// unused says whether no message is under way, or was refused: some brokers end the
// connection behind a refusal.
func (x *connection) unused() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.pending) == 0 && len(x.denied) == 0
}

// contested says whether a broker closes a connection at once that it has just taken,
// where it is in doubt why it does so.
func (r *rivals) contested(conn net.Conn, in *bufio.Reader) bool {
	r.mu.Lock()
	doubt := r.seen.cuts >= doubtfulCuts
	r.mu.Unlock()
	if !doubt {
		return false
	}
	began := time.Now()
	_ = conn.SetReadDeadline(began.Add(quiet)) // a connection that is closed fails below
	_, err := in.Peek(1)
	_ = conn.SetReadDeadline(time.Time{})
	if err == nil || why(err) != closedByBroker {
		return false
	}
	r.tookOver(began)
	return true
}

func errTakenOver(outcome broker.Outcome, id string) *broker.Error {
	return adapter.Failure(outcome, fmt.Sprintf("another client connects with the client id %.64q, and the broker ends this connection for it", id),
		"give each program an Options.Login.ClientID of its own, or none")
}
