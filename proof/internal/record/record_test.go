package record

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// payload is what the messages of these tests hold.
func payload(key string, n int) []byte { return fmt.Append(nil, key, n) }

// arrivals are messages 0 to n-1 of key k, in order.
func arrivals(n int) (all []Arrival) {
	now := time.Now()
	for i := range n {
		all = append(all, Arrival{Event: Event{Key: "k", N: i}, From: now, To: now, Sum: history.Sum(payload("k", i))})
	}
	return all
}

func TestEachKindOfDeliveryErrorIsDetected(t *testing.T) {
	t.Parallel()
	var fault Faults
	fault.Note("kill", time.Now().Add(-time.Hour))
	swapped, late, damaged := arrivals(3), arrivals(3), arrivals(3)
	damaged[1].Sum = history.Sum([]byte("k1 "))
	swapped[0], swapped[1] = swapped[1], swapped[0]
	late = append(late, late[1])
	for i := range late { // the first time too: a fault in between would explain the second
		late[i].From = time.Now().Add(time.Hour)
		late[i].To = late[i].From
	}
	for _, one := range []struct {
		name     string
		arrivals []Arrival
		faults   *Faults
		broken   history.Promise
		want     string
		held     bool
	}{
		{"nothing", arrivals(3), nil, 0, "distinct 3, lost 0, phantoms 0, inversions 0, duplicates 0", true},
		{"lost", arrivals(2), nil, history.Lost, "distinct 2, lost 1, phantoms 0, inversions 0, duplicates 0", false},
		{"never committed", arrivals(4), nil, history.Phantom, "distinct 3, lost 0, phantoms 1, inversions 0, duplicates 0", false},
		{
			"rolled back", append(arrivals(3), Arrival{Event: Event{Key: "k", N: 2, Phantom: true}}), nil, history.Phantom,
			"distinct 3, lost 0, phantoms 1, inversions 0, duplicates 0", false,
		},
		{"swapped", swapped, nil, history.Order, "distinct 3, lost 0, phantoms 0, inversions 1, duplicates 0", false},
		{"damaged", damaged, nil, history.Bytes, "distinct 3, lost 0, phantoms 0, inversions 0, duplicates 0", false},
		{"again", append(arrivals(3), arrivals(1)...), nil, history.Duplicates, "distinct 3, lost 0, phantoms 0, inversions 0, duplicates 1", false},
		{"again in a fault", append(arrivals(3), arrivals(1)...), &fault, 0, "distinct 3, lost 0, phantoms 0, inversions 0, duplicates 1", true},
		{"again after a fault", late, &fault, history.Duplicates, "distinct 3, lost 0, phantoms 0, inversions 0, duplicates 1", false},
	} {
		r := Judge(t, one.arrivals, map[string]int{"k": 3}, payload, one.faults, history.Options{Slack: time.Minute})
		if got := Line(r); got != one.want || r.Held() != one.held || !one.held && r.Of(one.broken).Held {
			t.Errorf("%s: %s\n%s", one.name, got, r)
		}
	}
}

func TestArrivalsInAFileAreJudgedAsThoseInMemory(t *testing.T) {
	t.Parallel()
	all := arrivals(20)
	all[5], all[6] = all[6], all[5]
	var faults Faults
	in, from := Judge(t, all, map[string]int{"k": 21}, payload, &faults, history.Options{}), judge(t, all, map[string]int{"k": 21}, payload, &faults, history.Options{}, 20)
	if from.Of(history.Lost).Broken != 1 || from.Of(history.Order).Broken != 1 || in.String() != from.String() {
		t.Errorf("in memory:\n%s\nfrom a file:\n%s", in, from)
	}
}
