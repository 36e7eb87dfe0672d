package engine_test

import (
	"slices"
	"testing"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// seen is a shard of a view, whose range begins at lo.
func seen(lo int, token, version int64, owner string) store.ShardState {
	return store.ShardState{Lease: lease(lo, lo+1024, token, version), Owner: owner}
}

// look is what a relay called me sees. kept are the tokens of shards that are given back.
func look(t *testing.T, o *engine.Owner, has []store.Lease, view []store.ShardState, kept ...int64) *engine.Sight {
	t.Helper()
	return o.Look("me", view, has, func(l *store.Lease) bool { return slices.Contains(kept, l.Token) })
}

func TestRequestedShardsAreLoadedAndOthersGivenBack(t *testing.T) {
	t.Parallel()
	var o engine.Owner
	view := []store.ShardState{seen(0, 1, 1, "me"), seen(1024, 2, 1, "me"), seen(2048, 3, 1, "other"), seen(3072, 4, 1, "me")}
	o.Asks(nil)
	o.Claim(0)
	o.Claim(2048)
	s := look(t, &o, nil, view, 4)
	if !slices.Equal(s.Gained, []int{0}) || !slices.Equal(s.Disowned, []int{1}) || len(s.Lost)+len(s.Old) > 0 {
		t.Fatalf("%+v", s)
	}
	o.Load(view[0].Lease)
	if s = look(t, &o, nil, view, 4); len(s.Gained) > 0 || !o.Loading() {
		t.Errorf("it is loaded twice: %+v", s)
	}
	view[2].Owner = "me"
	if s = look(t, &o, nil, view, 2, 4); len(s.Gained) > 0 || !slices.Equal(s.Disowned, []int{2}) {
		t.Errorf("what another had meanwhile counts as asked for: %+v", s)
	}
	o.Whole = true
	if s = look(t, &o, nil, view, 4); !slices.Equal(s.Gained, []int{1, 2}) {
		t.Errorf("of a flow that works all shards or none some are left: %+v", s)
	}
}

func TestAShardIsLostIfTakenSetBackOrRemoved(t *testing.T) {
	t.Parallel()
	has := []store.Lease{lease(0, 1024, 1, 9), lease(1024, 2048, 2, 9)}
	for name, c := range map[string]struct {
		view      []store.ShardState
		lost, old int
	}{
		"both are ours":     {view: []store.ShardState{seen(0, 1, 9, "me"), seen(1024, 2, 10, "me")}},
		"one is another's":  {view: []store.ShardState{seen(0, 1, 9, "me"), seen(1024, 3, 9, "other")}, lost: 1},
		"one is free":       {view: []store.ShardState{seen(0, 1, 9, ""), seen(1024, 2, 9, "me")}, lost: 1},
		"one came back":     {view: []store.ShardState{seen(0, 1, 9, "me"), seen(1024, 3, 9, "me")}, lost: 1},
		"one was set back":  {view: []store.ShardState{seen(0, 1, 8, "me"), seen(1024, 2, 9, "me")}, lost: 1},
		"there is one left": {view: []store.ShardState{seen(0, 7, 1, "other")}, lost: 1, old: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o engine.Owner
			o.Asks(has)
			if s := look(t, &o, has, c.view); len(s.Lost) != c.lost || len(s.Old) != c.old {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestAShardTakenByAnotherWhileLoadingIsNotTaken(t *testing.T) {
	t.Parallel()
	var o engine.Owner
	mine, next := seen(0, 1, 1, "me"), seen(0, 2, 1, "other")
	o.Load(mine.Lease)
	if o.Loaded(next.Lease) || !o.Loaded(mine.Lease) || o.Loaded(mine.Lease) {
		t.Error("a shard is loaded under another token, or twice, or not at all")
	}
	o.Load(mine.Lease)
	_ = look(t, &o, nil, []store.ShardState{next})
	if o.Loading() || o.Loaded(mine.Lease) {
		t.Error("it is still being loaded")
	}
	o.Load(mine.Lease)
	o.Forget()
	if o.Loading() {
		t.Error("it is loaded for a name that was given up")
	}
}

func TestAShardToBeGivenBackWhileLoadingIsLeftOnceLoaded(t *testing.T) {
	t.Parallel()
	var o engine.Owner
	var left []int
	leave := func(lo int) { left = append(left, lo) }
	o.Load(seen(0, 1, 1, "me").Lease)
	o.Give([]int{0, 1024}, leave)
	if !slices.Equal(left, []int{1024}) || !o.Unwanted(0) || !o.Got(0) || o.Got(1024) {
		t.Errorf("%v are left at once", left)
	}
	o.Give(nil, leave)
	if o.Unwanted(0) || len(left) != 1 {
		t.Error("a later plan does not count")
	}
}
