package sqlkit

import "sync"

// Marks remember, in this process, how far some work has got with each box. The zero
// Marks are all zero. They are safe for concurrent use.
type Marks struct {
	mu sync.Mutex
	at map[string]int64
}

// Of returns the mark of a box.
func (k *Marks) Of(box string) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.at[box]
}

// Set sets the mark of a box. Zero forgets it.
func (k *Marks) Set(box string, at int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == nil {
		k.at = make(map[string]int64)
	}
	if k.at[box] = at; at == 0 {
		delete(k.at, box)
	}
}
