package faketime

import (
	"math/rand/v2"
	"sync"
	"time"
)

// chance draws, for many goroutines. Each part of a world has one of its own, so that what one part draws does not depend on
// how often the others did.
type chance struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func newChance(seed, part uint64) *chance { return &chance{rand: rand.New(rand.NewPCG(seed, part))} }

// n returns a number in [0, n).
func (c *chance) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rand.IntN(n)
}

// one says yes once in so many times.
func (c *chance) one(in int) bool { return c.n(in) == 0 }

// coin says yes every other time.
func (c *chance) coin() bool { return c.one(2) }

// of picks one of some numbers.
func (c *chance) of(numbers ...int) int { return numbers[c.n(len(numbers))] }

// upTo returns a time in [0, d).
func (c *chance) upTo(d time.Duration) time.Duration { return time.Duration(c.n(int(d))) }

// pause lets fake time pass.
func pause(d time.Duration) { <-time.After(d) }
