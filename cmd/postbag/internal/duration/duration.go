package duration

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Forms says what Parse takes, for messages to people.
const Forms = "a number and a unit, such as 15s, 90m, 3d or P3D"

const day = 24 * time.Hour

// errForm is the error of a text that is no duration.
var errForm = errors.New("duration: is no duration; write " + Forms)

// Parse reads a duration. A sign is taken in Go's form alone.
func Parse(text string) (time.Duration, error) {
	if iso, ok := strings.CutPrefix(text, "P"); ok {
		return parseISO(iso)
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	return parseDays(text)
}

// parseDays reads Go's form behind weeks and days, such as 2w, 3d or 1d12h.
func parseDays(text string) (time.Duration, error) {
	var sum time.Duration
	rest, found := text, false
	for _, unit := range []struct {
		name string
		long time.Duration
	}{{"w", 7 * day}, {"d", day}} {
		number, behind, ok := strings.Cut(rest, unit.name)
		if !ok {
			continue
		}
		n, err := number64(number)
		if err != nil {
			return 0, errForm
		}
		if sum, err = plus(sum, n, unit.long); err != nil {
			return 0, err
		}
		rest, found = behind, true
	}
	if !found {
		return 0, errForm
	}
	if rest == "" {
		return sum, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || strings.HasPrefix(rest, "+") || sum > math.MaxInt64-d {
		return 0, errForm
	}
	return sum + d, nil
}

// parseISO reads what stands behind the P of ISO 8601-1:2019, 5.5.2.
func parseISO(text string) (time.Duration, error) {
	date, clock, timed := strings.Cut(text, "T")
	if timed && clock == "" || date == "" && clock == "" {
		return 0, errForm
	}
	sum, err := designators(0, date, "WD", []time.Duration{7 * day, day})
	if err != nil {
		return 0, err
	}
	return designators(sum, clock, "HMS", []time.Duration{time.Hour, time.Minute, time.Second})
}

// designators adds the numbers of text, each of which ends with one of letters, in
// their sequence. A fraction is taken where it ends the text.
func designators(sum time.Duration, text, letters string, units []time.Duration) (time.Duration, error) {
	for i := range units {
		number, rest, ok := strings.Cut(text, letters[i:i+1])
		if !ok {
			continue
		}
		n, err := number64(strings.Replace(number, ",", ".", 1))
		if err != nil || n != math.Trunc(n) && rest != "" {
			return 0, errForm
		}
		if sum, err = plus(sum, n, units[i]); err != nil {
			return 0, err
		}
		text = rest
	}
	if text != "" {
		return 0, errForm
	}
	return sum, nil
}

// number64 reads digits, maybe with a fraction: no sign, no exponent.
func number64(text string) (float64, error) {
	if text == "" || strings.Trim(text, "0123456789.") != "" || strings.HasPrefix(text, ".") {
		return 0, errForm
	}
	return strconv.ParseFloat(text, 64)
}

func plus(sum time.Duration, n float64, unit time.Duration) (time.Duration, error) {
	add := n * float64(unit)
	if add > float64(math.MaxInt64-sum)/2 { // a half leaves room for rounding
		return 0, errForm
	}
	return sum + time.Duration(add), nil
}

// Value is a flag that holds a duration. It implements pflag.Value.
type Value time.Duration

// Flag returns a flag's value over p.
func Flag(p *time.Duration) *Value { return (*Value)(p) }

// Set reads text.
func (v *Value) Set(text string) error {
	d, err := Parse(text)
	if err != nil {
		return errors.New("it is no duration; write " + Forms)
	}
	*v = Value(d)
	return nil
}

// String writes the duration as Go does. Zero is empty: a flag without a default.
func (v *Value) String() string {
	if *v == 0 {
		return ""
	}
	return time.Duration(*v).String()
}

// Type names the kind of value in a command's help.
func (v *Value) Type() string { return "duration" }
