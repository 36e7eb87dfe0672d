package chaos_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/proof/chaos/adapters"
)

func TestBadArgumentsExitWithTwoAndSayWhatToWrite(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	file := filepath.Join(full, "report.txt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		args []string
		want string
	}{
		{[]string{"-pair", "oracle-nats"}, `no pair "oracle-nats"; write a store (postgresql, `},
		{[]string{"-pair", "webhook-postgresql"}, `or for an inbox the broker first (`},
		{[]string{"-pair", "kafkaonce-postgresql"}, `no pair "kafkaonce-postgresql"`},
		{[]string{"-for", "-3s"}, "-3s of faults"},
		{[]string{"-for", "0s"}, "more than none"},
		{[]string{"-for", "soon"}, `"soon"`},
		{[]string{"-seed", "lucky"}, `"lucky"`},
		{[]string{"-relays", "-1"}, "-1 relays"},
		{[]string{"-producers", "1000000"}, "1000000 producers"},
		{[]string{"-rate", "1", "-producers", "3"}, "1 messages a second of 3 producers"},
		{[]string{"-dir", full}, "is not empty"},
		{[]string{"-dir", file}, "cannot be read"},
		{[]string{"postgresql-nats"}, `"postgresql-nats" is no flag`},
		{[]string{"-pair", "sqlite-webhook", "-only", "shards set,flood", "-dir", t.TempDir()}, `no fault of sqlite-webhook is called "flood"; write some of ["SIGKILL of a relay"`},
		{[]string{"-pair", "sqlite-webhook", "-only", "at relay/fetch/after", "-dir", t.TempDir()}, "build this program with -tags postbag_failpoints"},
		{[]string{"-pair", "sqlite-webhook", "-only", ","}, `-only "," names no fault`},
		{[]string{"-pair", "sqlite-webhook", "-dir", filepath.Join(string(os.PathSeparator), "proc", "none")}, "cannot be made"},
	} {
		var out, diag strings.Builder
		if code := chaos.Main(one.args, &out, &diag, adapters.Stores(), adapters.Brokers()); code != 2 || !strings.Contains(diag.String(), one.want) {
			t.Errorf("%v: %d, %s%s", one.args, code, &diag, &out)
		}
	}
}

func TestOptionsSayAllThatIsWrongAtOnce(t *testing.T) {
	t.Parallel()
	if err := (&chaos.Options{Store: adapters.Postgres{}, Broker: adapters.Webhook{}, Inbox: true}).Validate(); err == nil || !strings.Contains(err.Error(), "Taker") {
		t.Errorf("webhooks are no source here: %v", err)
	}
	o := chaos.Options{For: time.Millisecond, Relays: -1, Producers: -1, Rate: -5}
	err := o.Validate()
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	for _, want := range []string{"Store", "1ms", "-1 relays", "-1 producers", "-5 messages", "Dir", "Log"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not said: %v", want, err)
		}
	}
}
