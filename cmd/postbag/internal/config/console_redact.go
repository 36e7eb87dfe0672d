package config

import (
	"errors"
	"fmt"

	"github.com/postbag/postbag/internal/redact"
)

// ConsoleRedact is what of payloads and headers a console shows nobody, whatever their rights.
type ConsoleRedact struct {
	// Names of headers whose values are hidden, whatever their case. * stands for any text, as in x-*.
	Headers []string `yaml:"headers" exact:"true" otherwise:"none"`
	// Paths to values of JSON payloads that are hidden, such as $.card.number, $..password, $.items[0]
	// and $['a b']. See guides/console.md.
	JSON []string `yaml:"json" exact:"true" otherwise:"none"`
	// With paths, payloads that are no JSON are hidden, or shown.
	Other string `yaml:"other" oneof:"hide show" default:"hide"`
}

// mistakes are what is wrong with the rules, by setting.
func (r *ConsoleRedact) mistakes() (all [][2]string) {
	_, err := redact.New(redact.Options{Headers: r.Headers, JSON: r.JSON})
	joined, several := err.(interface{ Unwrap() []error })
	if !several {
		return nil
	}
	for _, one := range joined.Unwrap() {
		if fault, ok := errors.AsType[*redact.RuleError](one); ok {
			all = append(all, [2]string{fmt.Sprintf("redact.%s[%d]", fault.Option, fault.At), fault.Text})
		}
	}
	return all
}
