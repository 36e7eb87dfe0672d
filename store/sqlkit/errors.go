package sqlkit

import "errors"

// told is an error that says what failed and what to do about it.
type told struct{ error }

func (t *told) Unwrap() error { return t.error }

// Tell makes an error that says what failed, by translate, but of one that Tell has
// made before: that says so already, and is returned as it is. Nil stays nil.
func Tell(doing string, err error, translate func(doing string, err error) error) error {
	if _, is := errors.AsType[*told](err); is || err == nil {
		return err
	}
	return &told{translate(doing, err)}
}
