package engine

// Score is what relays and shards are ranked by.
func Score(relay, subscription string, lo int) uint64 { return score(relay, subscription, lo) }
