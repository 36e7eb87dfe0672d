package sqlscript

import (
	"fmt"
	"strings"

	"github.com/postbag/postbag/store"
)

// The forms in which steps are written.
const (
	Plain = "plain" // statements with semicolons, for a database's own shell
	Goose = "goose" // a migration of github.com/pressly/goose
	Atlas = "atlas" // a migration of ariga.io/atlas
)

// Formats returns the names of the forms.
func Formats() []string { return []string{Plain, Goose, Atlas} }

// atlasEnd stands behind each statement for Atlas, which is told so in the first line.
const atlasEnd = "-- end"

// Write returns steps in one of the forms, as one file.
func Write(format string, steps []store.Step) string {
	var b strings.Builder
	switch format {
	case Goose:
		b.WriteString("-- +goose Up\n")
	case Atlas:
		b.WriteString("-- atlas:delimiter " + atlasEnd + "\n\n")
	}
	for _, s := range steps {
		b.WriteString(title(s))
		if format == Plain {
			b.WriteString(strings.TrimRight(s.SQL, "\n") + "\n")
			continue
		}
		for _, text := range Split(s.SQL) {
			if format == Goose {
				b.WriteString("-- +goose StatementBegin\n" + text + ";\n-- +goose StatementEnd\n")
			} else {
				b.WriteString(text + "\n" + atlasEnd + "\n")
			}
		}
	}
	return b.String()
}

func title(s store.Step) string {
	if s.Version == 0 {
		return fmt.Sprintf("-- %s\n", s.Name)
	}
	return fmt.Sprintf("-- step %d, %s\n", s.Version, s.Name)
}
