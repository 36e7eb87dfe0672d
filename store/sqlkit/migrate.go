package sqlkit

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/postbag/postbag/store"
)

// Steps are the migrations of a folder "schema", sorted by their numbers:
// schema/0001_name.sql. You may add a step, and never change one. record is the SQL at
// the end of each step, which notes that the step was taken. Its verb is the number.
func Steps(files fs.FS, record string) []store.Step {
	names, err := fs.Glob(files, "schema/0*.sql")
	if err != nil {
		return nil
	}
	out := make([]store.Step, 0, len(names))
	for _, path := range names {
		text, err := fs.ReadFile(files, path)
		name := strings.TrimSuffix(strings.TrimPrefix(path, "schema/"), ".sql")
		number, _, _ := strings.Cut(name, "_")
		version, atoi := strconv.Atoi(number)
		if err == nil && atoi == nil {
			out = append(out, store.Step{Version: version, Name: name, SQL: string(text) + fmt.Sprintf(record, version)})
		}
	}
	return out
}

// Latest returns the version of the last step, zero for none.
func Latest(steps []store.Step) (version int) {
	for _, step := range steps {
		version = max(version, step.Version)
	}
	return version
}

// After returns the steps beyond a version.
func After(steps []store.Step, version int) []store.Step {
	var missing []store.Step
	for _, step := range steps {
		if step.Version > version {
			missing = append(missing, step)
		}
	}
	return missing
}

// CheckVersion returns ErrSchema if a schema does not fit a program. The program needs
// version known of the schema. The schema is of this version, and needs a program that
// knows version reader.
func CheckVersion(known, version, reader int) error {
	switch {
	case version < known:
		return fmt.Errorf("it has version %d, this program needs %d: %w", version, known, store.ErrSchema)
	case reader > known:
		return fmt.Errorf("it needs a program that knows version %d, this one knows %d: use a newer one: %w",
			reader, known, store.ErrSchema)
	}
	return nil
}
