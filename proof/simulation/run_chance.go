package simulation

// chance decides everything in a run that is left to chance. It is drawn from a
// seed; or read from a tape, which is what an earlier run drew, cut down by the
// shrinker. In every choice zero is the plainest: no fault, the event that waits
// longest, the shortest time (but for the time until a fault, see rest). A tape that is at its end gives zeros, so that the
// beginning of a tape is a run too.
type chance struct {
	state  uint64
	tape   []uint32
	at     int
	replay bool
	record bool
}

func (c *chance) seed(seed uint64) { *c = chance{state: seed * 0x9e3779b97f4a7c15, tape: c.tape[:0]} }

func (c *chance) play(tape []uint32) { *c = chance{tape: tape, replay: true} }

// below returns a number in [0, n).
func (c *chance) below(n int) int {
	if n <= 1 {
		return 0
	}
	if c.replay {
		c.at++
		if c.at > len(c.tape) {
			return 0
		}
		return int(c.tape[c.at-1] % uint32(n))
	}
	c.state += 0x9e3779b97f4a7c15 // SplitMix64 (G. Steele, D. Lea, C. Flood, 2014)
	z := c.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	v := uint32((z >> 32) * uint64(n) >> 32)
	if c.record {
		c.tape = append(c.tape, v)
	}
	return int(v)
}

// rest returns a number in [1, n], of which the plainest is the largest: how long
// nothing goes wrong.
func (c *chance) rest(n int) int {
	v := c.below(n)
	switch {
	case c.replay:
		return n - v
	case c.record && n > 1:
		c.tape[len(c.tape)-1] = uint32(n - 1 - v)
	}
	return 1 + v
}

// permille says yes so many times in a thousand.
func (c *chance) permille(p int) bool { return p > 0 && c.below(1000) >= 1000-p }

// coin says yes every other time.
func (c *chance) coin() bool { return c.below(2) == 1 }

// of picks one of some numbers, of which the first is the plainest.
func (c *chance) of(n ...int) int { return n[c.below(len(n))] }

// float returns a number in [0, 1), for the engine.
func (c *chance) float() float64 { return float64(c.below(1<<16)) / (1 << 16) }
