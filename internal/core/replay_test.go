package core_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// floorOf reads positions that are numbers.
func floorOf(p store.Position) (int64, error) { return strconv.ParseInt(string(p), 10, 64) }

func TestAReplayReadsNothingBehindItsEnd(t *testing.T) {
	t.Parallel()
	r := &store.Replay{After: 5, Through: 10}
	for name, c := range map[string]struct {
		q    store.Request
		want int
	}{
		"before the end":                {store.Request{From: "9", Limit: 7}, 7},
		"at the end":                    {store.Request{From: "10", Limit: 7}, 0},
		"behind the end":                {store.Request{From: "11", Limit: 7}, 0},
		"to where another group stands": {store.Request{From: "11", Until: "12", Limit: 7}, 7},
		"at a position of nobody":       {store.Request{From: "what", Limit: 7}, 7},
	} {
		if got := core.ReadReplay(r, c.q, floorOf); got.Limit != c.want {
			t.Errorf("%s: it reads %d, not %d", name, got.Limit, c.want)
		}
	}
}

func TestAReplayIsAsFarAsTheShardThatIsBehindAllOthers(t *testing.T) {
	t.Parallel()
	r := &store.Replay{After: 5, Through: 10}
	at := func(positions ...store.Position) (out []store.ShardState) {
		for _, p := range positions {
			out = append(out, store.ShardState{Position: p})
		}
		return out
	}
	for _, c := range []struct {
		shards []store.ShardState
		want   int64
	}{{at("9", "7", "8"), 7}, {at("3"), 5}, {at("20", "30"), 10}} {
		if got, err := core.ReplayFloor(r, c.shards, floorOf); err != nil || got != c.want {
			t.Errorf("at %v it is at %d, not %d (%v)", c.shards, got, c.want, err)
		}
	}
	if _, err := core.ReplayFloor(r, at("9", "what"), floorOf); !errors.Is(err, strconv.ErrSyntax) {
		t.Errorf("a position of nobody: %v", err)
	}
	for _, c := range []struct {
		p    core.ReplayProgress
		want bool
	}{{core.ReplayProgress{Floor: 10}, true}, {core.ReplayProgress{Floor: 9}, false}, {core.ReplayProgress{Floor: 10, Waiting: 1}, false}, {core.ReplayProgress{Floor: 10, Commands: 1}, false}} {
		if got := c.p.Through(r); got != c.want {
			t.Errorf("at %+v through is %v", c.p, got)
		}
	}
}

func TestAReplayLeavesOutWhatIsNotBetweenItsBounds(t *testing.T) {
	t.Parallel()
	records := []store.Record{{Seq: 5}, {Seq: 6}, {Seq: 10}, {Seq: 11}, {Seq: 7, Filtered: true}}
	for i := range records {
		records[i].Payload, records[i].Key = []byte("secret"), "key"
	}
	core.FilterReplay(&store.Replay{After: 5, Through: 10}, records)
	for i, out := range []bool{true, false, false, true, true} {
		m := &records[i]
		if m.Filtered != out || m.Seq == 5 && (m.Payload != nil || m.Key != "") {
			t.Errorf("seq %d comes as %+v", m.Seq, m)
		}
	}
}
