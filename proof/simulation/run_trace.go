package simulation

import (
	"fmt"
	"io"
	"time"
)

// trace is what happened, as a running hash, and as text if somebody listens.
type trace struct {
	hash uint64
	out  io.Writer
}

// kind is a kind of event.
type kind uint8

const (
	eventBegin kind = iota
	eventInsert
	eventEnd
	eventSettle
	eventRead
	eventBeat
	eventTake
	eventLost
	eventAnew
	eventCall
	eventStored
	eventAnswer
	eventStart
	eventTrouble
	eventStoreError
	eventDue
	eventOpen
	eventPrepare
	eventMark
	eventRollback
	eventReplay
	eventReplayEnds
)

var eventTexts = [...]string{
	eventBegin:      "transaction %d begins",
	eventInsert:     "transaction %d writes message %d as seq %d",
	eventEnd:        "transaction %d ends, committed %d, id %d",
	eventSettle:     "relay %d settles the shard from slot %d: applied %d",
	eventRead:       "relay %d reads: it found %d messages, more %d",
	eventBeat:       "relay %d beats: alive %d, epoch %d",
	eventTake:       "relay %d gets the shard from slot %d, token %d",
	eventLost:       "relay %d sees that it lost the shard from slot %d",
	eventAnew:       "relay %d begins again, as identity %d",
	eventCall:       "relay %d sends call %d, of %d messages",
	eventStored:     "the broker stores message %[2]d, sent by relay %[1]d, for the time %[3]d",
	eventAnswer:     "relay %d hears of call %d: %d accepted",
	eventStart:      "relay %d starts",
	eventTrouble:    "", // told by name
	eventStoreError: "relay %d: a call to the store failed (%d, %d)",
	eventPrepare:    "transaction %d is prepared, id %d",
	eventMark:       "relay %d marks message %d: fresh %d",
	eventRollback:   "a transaction of relay %d with the mark of message %d is rolled back",
	eventOpen:       "relay %d opens the lane as epoch %d, a record of %d bytes",
	eventReplay:     "replay %d starts: it sends seqs behind %d up to %d",
	eventReplayEnds: "a replay of %d ends: it has sent %d messages, and %d are parked",
	eventDue:        "relay %d asks for parked messages and gets %d",
}

func (t *trace) begin(out io.Writer) { *t = trace{hash: 0xcbf29ce484222325, out: out} }

func (t *trace) mix(v uint64) { t.hash = mixed(t.hash ^ v + 0x9e3779b97f4a7c15) }

// tell notes an event.
func (w *world) tell(k kind, who int, a, b int64) {
	t := &w.trace
	t.mix(uint64(w.now)<<8 | uint64(k))
	t.mix(uint64(who)<<48 ^ uint64(a)<<24 ^ uint64(b))
	if t.out != nil && eventTexts[k] != "" && !(w.options.Brief && idle(k, a, b)) {
		w.line(fmt.Sprintf(eventTexts[k]+"%.0[4]s", who, a, b, ""))
	}
}

// idle says that an event changes nothing.
func idle(k kind, a, b int64) bool {
	switch k {
	case eventRead:
		return a == 0 && b == 0
	case eventDue:
		return a == 0
	case eventBeat:
		return a == 1
	default:
		return false
	}
}

// tellf tells a listener more.
func (w *world) tellf(format string, args ...any) {
	if w.trace.out != nil {
		w.line(fmt.Sprintf(format, args...))
	}
}

func (w *world) line(s string) {
	_, _ = fmt.Fprintf(w.trace.out, "%12s  %s\n", w.now.Round(10*time.Microsecond), s)
}
