package kafkabroker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestDurabilityOfATopicFollowsItsSettings(t *testing.T) {
	t.Parallel()
	fake, err := kfake.NewCluster(kfake.NumBrokers(3))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	d := publishtest.Closing(t, dial(t, fake.ListenAddrs(), kafkabroker.Options{}))
	for name, c := range map[string]struct {
		replicas int16
		settings []string
		grade    string
		word     string
	}{
		"three replicas, two in sync": {3, []string{"min.insync.replicas=2"}, "A", ""},
		"one replica":                 {1, []string{"min.insync.replicas=1"}, "C", "has 1 replicas"},
		"three replicas, one in sync": {3, []string{"min.insync.replicas=1"}, "C", "min.insync.replicas"},
		"two replicas, both in sync":  {2, []string{"min.insync.replicas=2"}, "B", "one broker down stops it"},
		"three replicas, all in sync": {3, []string{"min.insync.replicas=3"}, "B", "one broker down stops it"},
		"leaders that lack messages":  {3, []string{"min.insync.replicas=2", "unclean.leader.election.enable=true"}, "C", "unclean.leader.election.enable"},
	} {
		p := newPlace(t, fake.ListenAddrs())
		p.replicas = c.replicas
		p.create(t, c.settings...)
		g, err := d.Durability(publishtest.Timeout(t, 30*time.Second), p.topic)
		if err != nil {
			t.Fatal(err)
		}
		if g.Grade != c.grade || !strings.Contains(strings.Join(g.Advice, " "), c.word) || (c.grade == "A") != (len(g.Advice) == 0) {
			t.Errorf("%s: %+v, want grade %s with a word on %q", name, g, c.grade, c.word)
		}
		if g.Partitions != 2 || g.Replicas != int(c.replicas) || g.InSync != int(c.replicas) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if _, err := d.Durability(publishtest.Timeout(t, 30*time.Second), "nothing"); broker.OutcomeOf(err) != broker.Misconfigured {
		t.Errorf("a topic that is not there: %v", err)
	}
}
