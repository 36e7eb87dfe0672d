package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/goccy/go-yaml/ast"
)

// MaxSize bounds a configuration file, in bytes.
const MaxSize = 64 << 10

// Source says what a configuration is made of.
type Source struct {
	// Paths are the files. What a later one says takes the place of what an earlier one
	// said; settings that it leaves out stay, members of a list do not.
	Paths []string
	// Profile is the name of one of the profiles in the files, which says more after the
	// rest of its file. Empty: none.
	Profile string
	// Elsewhere: the configuration is for another machine. ${NAME} of a variable that is
	// not set stays as it is.
	Elsewhere bool
}

// Read reads the files and reports every mistake in them.
func (s Source) Read(k Kinds) (*File, error) {
	texts := make([][]byte, len(s.Paths))
	for i, path := range s.Paths {
		var err error
		if texts[i], err = readBounded(path, MaxSize); err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
	}
	return s.parse(texts, k)
}

// Parse reads data as the text of a file named path.
func Parse(path string, data []byte, k Kinds) (*File, error) {
	return Source{Paths: []string{path}}.parse([][]byte{data}, k)
}

func (s Source) parse(texts [][]byte, k Kinds) (*File, error) {
	f := &File{problems: &problems{places: make(map[string]place), later: make(map[string]bool)}, elsewhere: s.Elsewhere}
	var profiles []string
	whole := true
	for i, text := range texts {
		f.problems.path, f.problems.file = s.Paths[i], i
		b := &binder{problems: f.problems, kinds: k, source: s, anchors: make(map[string]ast.Node), found: &profiles}
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // the mark that some editors begin a file with
		whole = b.bind(text, f) && whole
	}
	if whole {
		s.checkProfile(f.problems, profiles)
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
	f.problems = &problems{path: from, places: make(map[string]place)}
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
