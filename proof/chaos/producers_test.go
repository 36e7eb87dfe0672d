package chaos_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/proof/chaos/adapters"
	"github.com/postbag/postbag/proof/history"
)

func TestKilledProducersAndRelaysCostNoMessageAndShardsAreTakenOver(t *testing.T) {
	t.Parallel()
	r := here(t, chaos.Options{
		Broker: adapters.Webhook{}, For: 18 * time.Second, Rate: 1500, Only: []string{"SIGKILL of a producer", "SIGKILL of all relays"},
	})
	if !r.OK {
		t.Errorf("%v\n%v", r.Failures, r.History)
	}
	for _, fault := range []string{"SIGKILL of a producer", "SIGKILL of all relays"} {
		if r.Counts[fault] == 0 {
			t.Errorf("no %s came: %v", fault, r.Counts)
		}
	}
	if r.Load.Inherited == 0 || r.Load.Unknown > 0 {
		t.Errorf("%d transactions were found out after their producer was killed, %d are unknown", r.Load.Inherited, r.Load.Unknown)
	}
	if r.History.Of(history.Takeovers).Seen == 0 {
		t.Error("no takeover was seen")
	}
}

// here runs SQLite to a broker in this program.
func here(t *testing.T, o chaos.Options) *chaos.Report {
	t.Helper()
	o.Store, o.Seed, o.Dir, o.Log = adapters.SQLite{}, 1, t.TempDir(), &logged{t: t}
	r, err := chaos.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// logged writes to a test's log.
type logged struct{ t *testing.T }

func (l *logged) Write(p []byte) (int, error) {
	l.t.Logf("%s", p)
	return len(p), nil
}

func TestFailingTopicsUnreadableRowsAndEmptiedLogsCostNoMessage(t *testing.T) {
	t.Parallel()
	only := []string{"answers of status 404 to one topic", "answers of status 410 to one topic", "row that nobody can read", "log emptied and numbered again", "SIGTERM of a relay"}
	// SQLite has one writer at a time. On a busy machine more messages a second keep a stranger from the log for ten seconds.
	r := here(t, chaos.Options{Broker: adapters.Webhook{}, For: 16 * time.Second, Rate: 150, Only: only})
	if !r.OK {
		t.Errorf("%v\n%v", r.Failures, r.History)
	}
	if r.Counts[only[0]]+r.Counts[only[1]] == 0 {
		t.Errorf("no topic failed: %v", r.Counts)
	}
	for _, fault := range only[2:] {
		if r.Counts[fault] == 0 {
			t.Errorf("no %s came: %v", fault, r.Counts)
		}
	}
}
