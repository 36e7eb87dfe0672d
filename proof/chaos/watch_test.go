package chaos

import (
	"testing"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// An open transaction is excused by what breaks its relay or its way to the database then, and not by what is there all the time.
func TestALongTransactionIsExcusedOnlyByAFaultAtThatTime(t *testing.T) {
	t.Parallel()
	began := time.Now()
	during := func(room Room, from, to int) Happening {
		return Happening{Room: room, From: began.Add(time.Duration(from) * time.Second), To: began.Add(time.Duration(to) * time.Second)}
	}
	throughout := during(Databases, 0, 60)
	throughout.Throughout = true
	for name, one := range map[string]struct {
		happened []Happening
		want     bool
	}{
		"nothing happened":                    {nil, false},
		"a database that was away":            {[]Happening{during(Databases, 19, 21)}, true},
		"a wire that was cut before":          {[]Happening{during(DatabaseWire, 15, 17)}, true},
		"a relay that stood still":            {[]Happening{during(Processes, 10, 40)}, true},
		"a broker that was away":              {[]Happening{during(Brokers, 10, 40), during(BrokerWire, 10, 40)}, false},
		"a database that was away long ago":   {[]Happening{during(Databases, 1, 2)}, false},
		"a stranger who is there all the run": {[]Happening{throughout}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, err := newEvents(t.TempDir()+"/watcher.events", began)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = events.Close() }()
			w := &watcher{operator: &operator{events: events}}
			if got := w.excused(history.Watch{Kind: history.OpenTransaction, Begin: 18 * time.Second, End: 22 * time.Second}, one.happened); got != one.want {
				t.Errorf("excused: %v", got)
			}
		})
	}
}
