package engine

import "math/rand/v2"

// chainTable finds the chains of a shard by their keys. In a drain each message puts a
// chain in and takes it out, which took a third of the engine's time with a map. So
// this is open addressing with linear probing, in places that lie side by side. The zero
// table is empty.
type chainTable struct {
	places []chainPlace // a power of two, of which at least a quarter are free
	held   int
	shift  uint8 // 64 - log2(len(places))
	// odd is drawn by chance, so that nobody can choose keys that fall on one place
	// (multiply-shift hashing, Dietzfelbinger and others, 1997). It decides nothing else.
	odd uint64
}

// chainPlace is free if its chain is nil.
type chainPlace struct {
	key   uint64
	chain *chain
}

// leastPlaces is how many places the first chain brings: a power of two.
const leastPlaces = 1 << 4

func (t *chainTable) len() int { return t.held }

// home is the place where a key is looked for first.
func (t *chainTable) home(key uint64) int { return int(key * t.odd >> t.shift) }

// find returns the place of a key, or the free one that it would have.
func (t *chainTable) find(key uint64) int {
	at := t.home(key)
	for t.places[at].chain != nil && t.places[at].key != key {
		at = (at + 1) & (len(t.places) - 1)
	}
	return at
}

// get returns the chain of a key, or nil.
func (t *chainTable) get(key uint64) *chain {
	if t.held == 0 {
		return nil
	}
	return t.places[t.find(key)].chain
}

// put adds a chain whose key has none.
func (t *chainTable) put(c *chain) {
	if 4*(t.held+1) > 3*len(t.places) {
		t.grow()
	}
	t.places[t.find(c.key)] = chainPlace{c.key, c}
	t.held++
}

func (t *chainTable) grow() {
	old := t.places
	if len(old) == 0 {
		t.places, t.shift, t.odd = make([]chainPlace, leastPlaces), 60, rand.Uint64()|1
		return
	}
	t.places, t.shift = make([]chainPlace, 2*len(old)), t.shift-1
	for _, p := range old {
		if p.chain != nil {
			t.places[t.find(p.key)] = p
		}
	}
}

// remove takes the chain of a key out, if there is one. What stands behind it moves up,
// as far as it is nearer to its home there.
func (t *chainTable) remove(key uint64) {
	if t.held == 0 {
		return
	}
	free := t.find(key)
	if t.places[free].chain == nil {
		return
	}
	t.held--
	mask := len(t.places) - 1
	for at := (free + 1) & mask; t.places[at].chain != nil; at = (at + 1) & mask {
		if home := t.home(t.places[at].key); (at-home)&mask >= (at-free)&mask {
			t.places[free] = t.places[at]
			free = at
		}
	}
	t.places[free] = chainPlace{}
}

// each calls do for every chain. do adds and removes none.
func (t *chainTable) each(do func(*chain)) {
	for i := range t.places {
		if c := t.places[i].chain; c != nil {
			do(c)
		}
	}
}
