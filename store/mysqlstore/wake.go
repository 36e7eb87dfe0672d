package mysqlstore

// Wake tells listeners of Woken that box has new messages.
func (s *Store) Wake(string) {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Woken returns the channel of hints; see [store.Waker]. It hears of this process
// only; messages of others are found by polling.
func (s *Store) Woken() <-chan struct{} { return s.woken }
