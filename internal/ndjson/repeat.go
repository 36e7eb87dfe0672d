package ndjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Repeated returns the first name that a JSON object has a second time, in which case
// decoders keep one of the values without a word. It looks at the members of the
// object itself and not into their values. object must be valid JSON.
func Repeated(object []byte) (name string, found bool) {
	seen := map[string]bool{}
	members(object, func(member string, _ json.RawMessage) bool {
		name, found = member, seen[member]
		seen[member] = true
		return !found
	})
	return name, found
}

// repeatedField says whether a message has a field or a header twice. Its line is
// valid and has no field that is not known.
func repeatedField(line []byte) (err error) {
	var fields []string
	members(line, func(name string, value json.RawMessage) bool {
		// encoding/json takes a field's name in any case.
		if slices.ContainsFunc(fields, func(field string) bool { return strings.EqualFold(field, name) }) {
			err = fmt.Errorf("has the field %.40q twice; keep one", name)
			return false
		}
		fields = append(fields, name)
		if !strings.EqualFold(name, "headers") {
			return true
		}
		if header, found := Repeated(value); found {
			err = fmt.Errorf("has the header %.40q twice; keep one", header)
		}
		return err == nil
	})
	return err
}

// members calls each for the members of a JSON object until it returns false. It calls
// it for none of another value.
func members(object []byte, each func(name string, value json.RawMessage) bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return
	}
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil || !each(name, value) {
			return
		}
	}
}
