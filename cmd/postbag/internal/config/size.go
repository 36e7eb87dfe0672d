package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes.
type Size int

// sizeForms says what a Size is written as.
const sizeForms = "a number of bytes, or a number and a unit, such as 512KiB, 64MiB or 1GiB"

var errSize = errors.New("is no size; write " + sizeForms)

// UnmarshalText reads a number of bytes, with a unit or without.
func (s *Size) UnmarshalText(text []byte) error {
	number, unit := strings.TrimSpace(string(text)), 1
	for _, u := range []struct {
		name string
		size int
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}} {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(n), u.size
			break
		}
	}
	n, err := strconv.Atoi(strings.ReplaceAll(number, "_", ""))
	if err != nil || n > math.MaxInt/unit || n < math.MinInt/unit {
		return errSize
	}
	*s = Size(n * unit)
	return nil
}
