package brokerkit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
)

// Property is a header of a destination's namespace that it obeys (broker.IsProperty).
type Property struct {
	// Name is the whole name, such as "rabbitmq.priority".
	Name string
	// Allowed says in words what a value may be.
	Allowed string
	// Valid says whether the value is allowed. The table that Check gets has it for each.
	Valid func(value string) bool
}

// CheckProperties returns an error, whose outcome is Rejected, if headers hold a property of
// known's namespace that is not in known, or whose value is not valid. It names each, and
// no value. Nil: there is none. known has one namespace, and is not empty.
func (a Adapter) CheckProperties(known []Property, headers map[string]string) *broker.Error {
	namespace, _, _ := strings.Cut(known[0].Name, ".")
	namespace += "."
	var faults []string // their names first
	for name, value := range headers {
		if strings.HasPrefix(name, namespace) && propertyFault(known, name, value) != "" {
			faults = append(faults, name)
		}
	}
	if faults == nil {
		return nil
	}
	slices.Sort(faults)
	for i, name := range faults {
		faults[i] = propertyFault(known, name, headers[name])
	}
	return a.Failure(broker.Rejected, strings.Join(faults, "; "), "correct it where the message is published, or leave it out")
}

func propertyFault(known []Property, name, value string) string {
	for i := range known {
		switch p := &known[i]; {
		case p.Name != name:
		case p.Valid(value):
			return ""
		default:
			return fmt.Sprintf("the header %s is not %s", name, p.Allowed)
		}
	}
	names := make([]string, len(known))
	for i := range names {
		names[i] = known[i].Name
	}
	return fmt.Sprintf("the header %.64q is no property; there are %s", name, strings.Join(names, ", "))
}

// WholeNumber reads a property that is a whole number, in digits alone, from zero to most.
func WholeNumber(value string, most uint64) (n uint64, ok bool) {
	n, err := strconv.ParseUint(value, 10, 64)
	return n, err == nil && n <= most && value[0] != '+'
}

// Span reads a property that is a duration of Go's form, such as "90s" or "1h30m": a whole
// number of units, from 1 to most of them.
func Span(value string, unit time.Duration, most uint64) (units uint64, ok bool) {
	d, err := time.ParseDuration(value)
	if err != nil || d < unit || d%unit != 0 || uint64(d/unit) > most {
		return 0, false
	}
	return uint64(d / unit), true
}
