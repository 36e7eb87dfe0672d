package faketime

import "sync"

// logbook keeps the end of what a relay writes to its log.
type logbook struct {
	mu   sync.Mutex
	text []byte
}

// mostLog is how much is kept, in bytes.
const mostLog = 4000

// Write implements io.Writer.
func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	l.text = l.text[max(len(l.text)-mostLog, 0):]
	return len(p), nil
}

// String is what is kept.
func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}
