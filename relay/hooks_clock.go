package relay

import "time"

// storeClock compares the clock of the store's database with ours.
type storeClock struct {
	ahead time.Duration // of ours
}

// heard takes what the database's clock showed at some time from sent to now, by our clock.
// Clocks that may agree are taken to agree: how long an answer was on its way is no
// difference of clocks.
func (c *storeClock) heard(sent, now, shown time.Time) {
	if shown.IsZero() {
		return
	}
	least, most := shown.Sub(now), shown.Sub(sent)
	if least <= 0 && most >= 0 {
		c.ahead = 0
		return
	}
	c.ahead = (least + most) / 2
}

// age is how old a message that the database stored at some time by its clock is, at a time of
// ours.
func (c *storeClock) age(stored, now time.Time) time.Duration {
	if stored.IsZero() {
		return 0
	}
	return max(now.Add(c.ahead).Sub(stored), 0)
}
