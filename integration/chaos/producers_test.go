package chaos_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/integration/chaos/adapters"
	"github.com/postbag/postbag/internal/history"
)

func TestWhatKilledProducersLeftOpenIsFoundOutAndTheShardsOfKilledRelaysAreTakenOver(t *testing.T) {
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
