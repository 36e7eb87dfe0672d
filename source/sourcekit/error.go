package sourcekit

// Error is an error of a source: a text that begins with what failed and ends with what to do, and
// its class, such as source.ErrUnavailable, which errors.Is finds.
type Error struct {
	Text  string
	Class error
}

func (e *Error) Error() string { return e.Text }

// Unwrap returns the class.
func (e *Error) Unwrap() error { return e.Class }
