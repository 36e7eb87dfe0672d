package adapters

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/chaos"
)

// The first topic is deleted: what lies in the second one is not read a second time, which would look like duplicates that no fault
// explains.
func TestATopicIsNotReadAgainWhenAnotherIsDeleted(t *testing.T) {
	t.Parallel()
	started, err := Kafka{Nodes: 1}.Start(t.Context(), chaos.Terms{Dir: t.TempDir(), Only: []string{"no other"}})
	servertest.Need(t, err)
	place := started.(*kafka) //nolint:errcheck // Kafka starts it
	defer func() {
		if err := place.Close(); err != nil {
			t.Error(err)
		}
	}()
	p := publishing{t: t, broker: Kafka{Nodes: 1}, place: place}
	p.await(broker.Accepted, place.Topic(), place.Branch())
	seen := make(map[string]map[string]int) // by topic, how often each id was read
	for _, topic := range []string{place.Topic(), place.Branch()} {
		seen[topic] = make(map[string]int)
	}
	read := func(enough func() bool) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for !enough() {
			arrivals, err := place.More(ctx)
			for _, a := range arrivals {
				topic, _, _ := strings.Cut(a.Place, "/")
				seen[topic][a.Headers["Postbag-Id"]]++
			}
			if ctx.Err() != nil {
				t.Fatalf("%v were read: %v", seen, err)
			}
		}
	}
	read(func() bool { return len(seen[place.Topic()]) > 0 && len(seen[place.Branch()]) > 0 })
	if err := place.recreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(seen[place.Topic()])
	p.await(broker.Accepted, place.Topic(), place.Branch())
	read(func() bool { return len(seen[place.Topic()]) > before && len(seen[place.Branch()]) > 1 })
	for id, count := range seen[place.Branch()] {
		if count > 1 || id == "" {
			t.Errorf("message %q of the second topic was read %d times", id, count)
		}
	}
}
