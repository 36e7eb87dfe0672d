package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxSize bounds a configuration file, in bytes.
const maxSize = 64 << 10

// Read reads the file at path and reports every mistake in it.
func Read(path string, k Kinds) (*File, error) {
	data, err := readBounded(path, maxSize)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return Parse(path, data, k)
}

// Parse reads data as the text of a file named path.
func Parse(path string, data []byte, k Kinds) (*File, error) {
	f := &File{problems: &problems{path: path, lines: make(map[string]int)}}
	if bind(f.problems, data, f) {
		f.check(k)
	}
	if err := f.problems.err(); err != nil {
		return nil, err
	}
	return f, nil
}

// Check checks a configuration that was made without a file, fills its defaults,
// and reports every mistake; from says of what it was made.
func (f *File) Check(from string, k Kinds) error {
	f.problems = &problems{path: from}
	f.check(k)
	return f.problems.err()
}

// Mistakef notes that a setting, such as "destinations.main.ca_file", was found
// wrong by who uses it.
func (f *File) Mistakef(where, format string, args ...any) { f.problems.atf(where, format, args...) }

// Err returns all mistakes that were noted, or nil.
func (f *File) Err() error { return f.problems.err() }

// readBounded reads a file, or whatever else can be read at path, of at most so
// many bytes.
func readBounded(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s holds more than %d bytes; it is not what it should be, name another file", path, most)
	}
	return data, nil
}

func unreadable(path string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("%s cannot be read: %w; name a file that exists and that this user may read", path, err)
}
