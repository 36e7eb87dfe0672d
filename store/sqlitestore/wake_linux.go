package sqlitestore

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
)

// changes tells of writes to one file, as the kernel does: inotify(7).
type changes struct {
	file *os.File
	seen chan struct{} // has room for one; closed when there is nothing more to hear
}

// follow returns the changes of the file at path, which need not be there yet; nil where
// the kernel has no more watches to give.
func follow(path string) *changes {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), "inotify")
	const what = syscall.IN_MODIFY | syscall.IN_CREATE | syscall.IN_MOVED_TO | syscall.IN_ONLYDIR
	if _, err := syscall.InotifyAddWatch(fd, filepath.Dir(path), what); err != nil {
		_ = file.Close()
		return nil
	}
	c := &changes{file: file, seen: make(chan struct{}, 1)}
	go c.listen(filepath.Base(path))
	return c
}

// listen ends when the file is closed.
func (c *changes) listen(name string) {
	defer close(c.seen)
	events := make([]byte, 16<<10)
	for {
		n, err := c.file.Read(events)
		if err != nil {
			return
		}
		if names(events[:n], name) {
			select {
			case c.seen <- struct{}{}:
			default:
			}
		}
	}
}

// names says whether one of the events is of a file with this name, or events were
// lost.
func names(events []byte, name string) bool {
	for len(events) >= syscall.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(events[4:])
		end := syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		if end > len(events) {
			return true
		}
		of, _, _ := bytes.Cut(events[syscall.SizeofInotifyEvent:end], []byte{0})
		if mask&syscall.IN_Q_OVERFLOW != 0 || string(of) == name {
			return true
		}
		events = events[end:]
	}
	return false
}

// close ends listening, and waits for that.
func (c *changes) close() {
	_ = c.file.Close()
	for range c.seen { // until it is closed
	}
}
