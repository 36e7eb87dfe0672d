package login

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/postbag/postbag/console"
)

const (
	// largestFile is the size of the largest access file, in bytes.
	largestFile = 1 << 20
	// longestName is the length of the longest name of a user or a group, in bytes.
	longestName = 256
	// lookEvery is how often the file is looked at.
	lookEvery = time.Second
)

// person is a line of a user.
type person struct {
	name   string
	hash   *hash // nil: another one vouches for them
	rights console.Rights
}

// access is what one reading of the file says.
type access struct {
	people map[string]*person
	groups map[string]console.Rights
	tokens map[sum]*tokened
	// secret are those that have a password, in the sequence of the file.
	secret []*person
}

// Access is an access file. It may be used concurrently.
type Access struct {
	path   string
	logger *slog.Logger
	seed   maphash.Seed

	mu     sync.Mutex
	says   *access
	looked time.Time
	was    os.FileInfo
}

// same says whether a file is the one that was read, and was not written since.
func same(is, was os.FileInfo) bool {
	return is != nil && was != nil && os.SameFile(is, was) && is.Size() == was.Size() && is.ModTime().Equal(was.ModTime())
}

// Open reads an access file. Each line is one of
//
//	user NAME HASH GRANT...   # logs in with a password; postbag console user prints it
//	user NAME - GRANT...      # a proxy or a provider vouches for the name
//	group NAME GRANT...       # a proxy or a provider says who is in it
//	token NAME HASH GRANT...  # a program; postbag console token prints it. expires=2027-01-31 may stand before the grants
//
// and a grant is as console.ParseGrant reads it. Logger gets an error when a changed file cannot be read; then what it said before
// holds. Nil: nobody gets it.
func Open(path string, logger *slog.Logger) (*Access, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	a := &Access{path: path, logger: logger, seed: maphash.MakeSeed()}
	said, state, err := read(path)
	if err != nil {
		return nil, err
	}
	a.says, a.was, a.looked = said, state, time.Now()
	return a, nil
}

// current returns what the file says, and reads it again when it changed.
func (a *Access) current() *access {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.looked) < lookEvery {
		return a.says
	}
	a.looked = time.Now()
	info, err := os.Stat(a.path)
	if err == nil && same(info, a.was) {
		return a.says
	}
	said, state, err := read(a.path)
	if err != nil {
		if state == nil || !same(state, a.was) {
			a.logger.Error("the changed access file of the console cannot be read; what it said before holds", "error", err)
		}
		a.was = state
		return a.says
	}
	a.says, a.was = said, state
	a.logger.Info("the console read its changed access file")
	return a.says
}

func read(path string) (*access, os.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("the access file of the console cannot be read: %w", err)
	}
	defer func() { _ = file.Close() }()
	state, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("the access file of the console cannot be read: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(file, largestFile+1))
	if err != nil {
		return nil, state, fmt.Errorf("the access file of the console cannot be read: %w", err)
	}
	if len(text) > largestFile {
		return nil, state, fmt.Errorf("the access file %s has more than %d bytes; give rights to groups instead", path, largestFile)
	}
	said, err := parse(path, text)
	if err == nil && text[len(text)-1] != '\n' {
		return nil, state, fmt.Errorf("the last line of %s has no end, so it may be half of one; end it with a newline", path)
	}
	return said, state, err
}

// parse reads the lines. Errors name the line, and never the hash.
func parse(path string, text []byte) (*access, error) {
	said := &access{people: make(map[string]*person), groups: make(map[string]console.Rights), tokens: make(map[sum]*tokened)}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, largestFile+1)
	for n := 1; lines.Scan(); n++ {
		if err := said.add(lines.Text()); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	if len(said.people)+len(said.groups)+len(said.tokens) == 0 {
		return nil, fmt.Errorf("%s lets nobody in; add a line of postbag console user, or group NAME viewer", path)
	}
	return said, nil
}

func (a *access) add(line string) error {
	if !utf8.ValidString(line) {
		return errors.New("the line is not UTF-8; save the file as UTF-8")
	}
	words := strings.Fields(line)
	if at := commentAt(words); at >= 0 {
		words = words[:at]
	}
	switch {
	case len(words) == 0:
		return nil
	case words[0] == "user" && len(words) >= 4:
		return a.addUser(words[1], words[2], words[3:])
	case words[0] == "group" && len(words) >= 3:
		return a.addGroup(words[1], words[2:])
	case words[0] == "token" && len(words) >= 4:
		return a.addToken(words[1], words[2], words[3:])
	}
	return errors.New("the line is none of user NAME HASH GRANT..., user NAME - GRANT..., group NAME GRANT... and token NAME HASH GRANT...; write one of them")
}

func commentAt(words []string) int {
	for i, word := range words {
		if word[0] == '#' {
			return i
		}
	}
	return -1
}

func (a *access) addUser(name, secret string, grants []string) (err error) {
	p := &person{name: name}
	if a.people[name] != nil || len(name) > longestName {
		return fmt.Errorf("the user %.80q stands twice, or has a name of more than %d bytes; leave one line", name, longestName)
	}
	if secret != "-" {
		if p.hash, err = parseHash(secret); err != nil {
			return fmt.Errorf("the third word of the user %.80q %w", name, err)
		}
		a.secret = append(a.secret, p)
	}
	a.people[name] = p
	p.rights, err = parseGrants(grants)
	return err
}

func (a *access) addGroup(name string, grants []string) (err error) {
	if a.groups[name] != nil || len(name) > longestName {
		return fmt.Errorf("the group %.80q stands twice, or has a name of more than %d bytes; leave one line", name, longestName)
	}
	a.groups[name], err = parseGrants(grants)
	return err
}

func parseGrants(texts []string) (all console.Rights, err error) {
	for _, text := range texts {
		g, err := console.ParseGrant(text)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// named is a name for the log: that of somebody in the file. What else somebody types as a name may be their password.
func (a *Access) named(name string) string {
	if p := a.current().people[name]; p != nil {
		return p.name
	}
	return "(not in the access file)"
}

// HasPasswords says whether somebody of the file logs in with a password.
func (a *Access) HasPasswords() bool { return len(a.current().secret) > 0 }

// knows says whether the file has a user of a name.
func (a *Access) knows(name string) bool { return a.current().people[name] != nil }

// password checks one, and returns who it is of; nil if it does not fit. For a name without a password it does the work of one of the
// file all the same, and always of the same one, so that the time does not tell which names there are.
func (a *Access) password(name, password string) *person {
	said := a.current()
	p := said.people[name]
	known := p != nil && p.hash != nil
	if !known {
		if len(said.secret) == 0 {
			return nil
		}
		p = said.secret[maphash.String(a.seed, name)%uint64(len(said.secret))]
	}
	if fits := p.hash.fits(password); !fits || !known {
		return nil
	}
	return p
}

// vouched returns the rights of somebody that a proxy or a provider vouches for.
func (a *Access) vouched(name string, groups []string) (all console.Rights) {
	said := a.current()
	if p := said.people[name]; p != nil && p.hash == nil {
		all = append(all, p.rights...)
	}
	for _, group := range groups {
		all = append(all, said.groups[group]...)
	}
	return all
}

// withPassword returns the rights of a user, as long as the hash is still the one that they logged in with.
func (a *Access) withPassword(name, hash string) console.Rights {
	if p := a.current().people[name]; p != nil && p.hash != nil && p.hash.String() == hash {
		return p.rights
	}
	return nil
}
