package adapters

import (
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// read1 has a reader take what a node sends, which is a list of words: "1" is the first tick, "a" a message, "a?" one that the node marks as
// sent before. It returns what was given out.
func read1(t *testing.T, r *rabbitReader, words string) string {
	t.Helper()
	var out []string
	for word := range strings.FieldsSeq(words) {
		id, again := strings.CutSuffix(word, "?")
		m := amqp.Delivery{MessageId: id, Body: []byte(id), Redelivered: again}
		if id[0] >= '0' && id[0] <= '9' {
			m.Type = tickType
		}
		ready, err := r.receive(&m)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ready {
			out = append(out, string(ready[i].Payload))
		}
	}
	return strings.Join(out, " ")
}

func TestARedeliveredMessageIsSkippedAndADuplicateIsNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, given, after, then string }{
		"the node learnt what was given out":            {"1 a 2 b 3", "a", "2? b? 3? c 4 5", "b c"},
		"the node did not":                              {"1 a 2 b 3", "a", "1? a? 2? b? 3? c 4 5", "b c"},
		"a second one is new":                           {"1 a 2 b 3", "a", "1? a? 2? b? 3? a 4 5", "b a"},
		"a second one was taken before":                 {"1 a 2 b 3 a", "a", "1? a? 2? b? 3? a? 4 5", "b a"},
		"a second one was taken and the node knew":      {"1 a 2 b 3 a", "a", "2? b? 3? a? 4 5", "b a"},
		"a second one was sent and did not come":        {"1 a 2 b 3", "a", "1? a? 2? b? 3? a? 4 5", "b a"},
		"a second one stands first, and the node knew":  {"1 a 2 a 3", "a", "2? a? 3? c 4 5", "a c"},
		"a second one stands first, and it did not":     {"1 a 2 a 3", "a", "1? a? 2? a? 3? c 4 5", "a c"},
		"some of it was acknowledged before":            {"1 a 2 b 3 c 4", "a b", "2? b? 3? c? 4? d 5 6", "c d"},
		"nothing was given out":                         {"1 a 2 b", "", "1? a? 2? b? 3 4", "a b"},
		"the queue is another one":                      {"1 a 2 b 3", "a", "6 c 7 8", "c"},
		"it begins again twice":                         {"1 a 2 b 3", "a", "| 1? a? | 1? a? 2? b? 3? c 4 5", "b c"},
		"it begins again twice, once in what was given": {"1 a 2 b 3 c 4", "a b", "| 1? a? 2? | 1? a? 2? b? 3? c? 4? 5 6", "c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &rabbitReader{ack: func(uint64) error { return nil }, aligned: true, before: time.Now()}
			if got := read1(t, r, c.before); got != c.given {
				t.Fatalf("%q was given out first, want %q", got, c.given)
			}
			var then []string
			for part := range strings.SplitSeq(strings.TrimPrefix(c.after, "| "), "|") {
				r.again()
				then = append(then, strings.Fields(read1(t, r, part))...)
			}
			if !slices.Equal(then, strings.Fields(c.then)) {
				t.Errorf("%q was given out then, want %q", then, c.then)
			}
		})
	}
}

func TestMessagesInAQueueAreDatedByTheTicksAroundThem(t *testing.T) {
	t.Parallel()
	r := &rabbitReader{ack: func(uint64) error { return nil }, aligned: true}
	for _, again := range []bool{false, true} {
		if again {
			r.again()
		}
		for _, id := range []string{"1", "a", "2", "3"} {
			m := amqp.Delivery{MessageId: id, Body: []byte(id), Redelivered: again}
			if id != "a" {
				m.Type = tickType
			}
			ready, err := r.receive(&m)
			if err != nil {
				t.Fatal(err)
			}
			if want := id == "3" && !again; (len(ready) == 1) != want {
				t.Fatalf("at %s %d were given out", id, len(ready))
			}
			if len(ready) == 1 && (!ready[0].From.Equal(time.UnixMicro(1)) || !ready[0].To.Equal(time.UnixMicro(3))) {
				t.Errorf("it was stored from %v to %v", ready[0].From, ready[0].To)
			}
		}
	}
}
