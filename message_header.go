package postbag

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reservedHeader begins the names of the headers in which relays carry a
// message's own facts, in any case.
const reservedHeader = "Postbag-"

// ValidHeaders returns an error unless headers can be those of a message: see
// Message.Headers. The error names every fault, and no value. Nil and empty headers are
// valid.
func ValidHeaders(headers map[string]string) error { return headerErrors("headers", headers) }

// headerErrors returns all that is wrong with headers, each fault beginning with what.
func headerErrors(what string, all map[string]string) error {
	var errs []error
	size, bad := headerFaults(all)
	for _, name := range bad {
		errs = append(errs, fmt.Errorf("postbag: %s[%.64q] %s", what, name, headerReason(name, all[name])))
	}
	if size > MaxHeader {
		errs = append(errs, fmt.Errorf("postbag: %s holds %d bytes, %d allowed; have fewer or shorter ones", what, size, MaxHeader))
	}
	return errors.Join(errs...)
}

// headers checks all headers of a message, and what they hold together.
func headers(f *faults, i int, all map[string]string) {
	size, bad := headerFaults(all)
	for _, name := range bad {
		f.add(&MessageError{Index: i, Field: "Headers", Header: name, Reason: headerReason(name, all[name])})
	}
	if size > MaxHeader {
		f.add(tooLong(i, "Headers", size, MaxHeader, "send fewer or shorter ones, or use the payload"))
	}
}

// headerFaults returns the bytes of all headers, as they are stored, and the names of
// those that are wrong by themselves, sorted.
func headerFaults(all map[string]string) (size int, bad []string) {
	for name, value := range all {
		size += len(name) + len(value) + len(`"":"",`)
		if headerReason(name, value) != "" {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	if size++; size > MaxHeader/longestEscape {
		size = storedSize(all, size)
	}
	return size, bad
}

// longestEscape is how many bytes one byte of a text may take in JSON.
const longestEscape = 6

// storedSize returns the bytes of the JSON object that stores write, or size, which has
// no escapes, if that is too much already.
func storedSize(all map[string]string, size int) int {
	if size > MaxHeader {
		return size
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(all) //nolint:errchkjson // texts, into memory
	return b.Len() - len("\n")
}

func headerReason(name, value string) string {
	if name == "" {
		return "has a header without a name; name it"
	}
	if reason := notText(name); reason != "" {
		return "has a name that " + reason
	}
	if len(name) >= len(reservedHeader) && strings.EqualFold(name[:len(reservedHeader)], reservedHeader) {
		return "begins with Postbag-, which relays use; choose another name"
	}
	if reason := notText(value); reason != "" {
		return "has a value that " + reason
	}
	return ""
}

// mergeHeaders returns own with what is missing in it taken from base. It changes
// neither, and may return either: the result is only to be read.
func mergeHeaders(base, own map[string]string) map[string]string {
	switch {
	case len(base) == 0:
		return own
	case len(own) == 0:
		return base
	}
	merged := make(map[string]string, len(base)+len(own))
	maps.Copy(merged, base)
	maps.Copy(merged, own)
	return merged
}
