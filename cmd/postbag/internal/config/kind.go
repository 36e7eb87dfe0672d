package config

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Kinds are the kinds of components that a program holds.
type Kinds struct{ Stores, Destinations, Sources []Kind }

// Kind is one kind of store or destination.
type Kind struct {
	// Name is what a file calls it.
	Name string
	// Schemes are beginnings of a DSN or URL that tell the kind, whatever their
	// case.
	Schemes []string
	// Settings are the settings of Store that a store of this kind takes and others do not.
	Settings []string
	// New returns the settings of a destination or source of this kind, each with its default.
	New func() Settings
}

// find returns the kind of that name, or with no name the one whose scheme place
// has; nil if there is none.
func find(kinds []Kind, name, place string) *Kind {
	place = strings.ToLower(place)
	for i := range kinds {
		k := &kinds[i]
		told := name == "" && slices.ContainsFunc(k.Schemes, func(s string) bool { return strings.HasPrefix(place, s) })
		if told || name == k.Name {
			return k
		}
	}
	return nil
}

func namesOf(kinds []Kind) string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].Name
	}
	return strings.Join(names, ", ")
}

// StoreKind returns the name of the kind of store at dsn. A DSN that looks like
// nothing else is the path of a file. The mistake is empty when there is none.
func (k Kinds) StoreKind(kind, dsn string) (name, mistake string) {
	if found := find(k.Stores, kind, dsn); found != nil {
		return found.Name, ""
	}
	switch {
	case kind != "":
		return "", "is no kind of store; choose one of " + namesOf(k.Stores)
	case keywordForm(dsn):
		return "postgresql", ""
	case driverForm.MatchString(dsn):
		return "mysql", ""
	case pathForm(dsn):
		return "sqlite", ""
	}
	return "", "does not tell the kind of store; begin it with one of " + strings.Join(schemes(k.Stores), " ") + ", or set the kind: " + namesOf(k.Stores) +
		"; a file's path alone has a folder in it or ends in .db, .sqlite or .sqlite3"
}

// pathForm says whether a DSN that names no kind is the path of a file. Another DSN
// with a slip in it must not become the name of one, since it may hold a password.
func pathForm(dsn string) bool {
	return !Foreign(dsn) && (strings.ContainsAny(dsn, `/\`) || fileEnding(dsn))
}

// Foreign says whether a text that stands for the path of a file looks like
// something else: the DSN of a server, or an option.
func Foreign(dsn string) bool {
	if strings.ContainsAny(dsn, "@()=&?*;<>|\"'\x00\r\n") || strings.Contains(dsn, "://") {
		return true
	}
	if drive.MatchString(dsn) {
		dsn = dsn[2:]
	}
	rooted := strings.HasPrefix(dsn, "/") || strings.HasPrefix(dsn, ".")
	return !rooted && strings.Contains(dsn, ":")
}

// Confided says whether a text that is said to be the path of a file looks as if
// somebody had put a password there. A path that begins with / or . is what it says.
func Confided(path string) bool {
	if strings.Contains(path, "://") || HasPassword(path) {
		return true
	}
	rooted := strings.HasPrefix(path, "/") || strings.HasPrefix(path, ".") || drive.MatchString(path)
	return !rooted && !fileEnding(path) && strings.ContainsAny(path, "@:")
}

// drive is the beginning of a path on Windows.
var drive = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

// fileEnding says whether a path ends as files of SQLite do.
func fileEnding(name string) bool {
	return slices.Contains([]string{".db", ".sqlite", ".sqlite3"}, strings.ToLower(path.Ext(name)))
}

// Partitions says whether a kind of store, by its name, divides its tables.
func (k Kinds) Partitions(kind string) bool {
	found := find(k.Stores, kind, "")
	return found != nil && slices.Contains(found.Settings, "partition")
}

func schemes(kinds []Kind) (all []string) {
	for i := range kinds {
		all = append(all, kinds[i].Schemes...)
	}
	return all
}

// Replicas says whether a console can read a replica of a kind of store, by its name.
func (k Kinds) Replicas(kind string) bool {
	found := find(k.Stores, kind, "")
	return found != nil && slices.Contains(found.Settings, "replica")
}

// driverForm is a DSN as MySQL's driver has it: user:password@tcp(host:3306)/database.
var driverForm = regexp.MustCompile(`^(.*@)?(tcp|tcp6|unix)\(.*\)/[^/]*$`)

// keywordForm says whether a DSN has the form "host=... dbname=...".
func keywordForm(dsn string) bool {
	first, _, found := strings.Cut(strings.TrimSpace(dsn), "=")
	return found && slices.Contains([]string{"host", "hostaddr", "port", "dbname", "database", "user", "service", "sslmode"},
		strings.TrimSpace(first))
}

// DestinationAt returns a destination at url, of the kind that its scheme tells, with
// the defaults of that kind. The mistake is empty when there is one.
func (k Kinds) DestinationAt(url string) (d Destination, mistake string) {
	kind := find(k.Destinations, "", url)
	if kind == nil {
		return Destination{}, "does not tell the kind of destination; begin it with one of " + strings.Join(schemes(k.Destinations), " ")
	}
	return Destination{Kind: kind.Name, Settings: kind.New()}, ""
}
