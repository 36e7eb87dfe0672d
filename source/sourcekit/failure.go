package sourcekit

// Failure is an error of a source: a text that begins with what failed and ends with what to do, and
// its class, such as source.ErrUnavailable, which errors.Is finds.
type Failure struct {
	Text  string
	Class error
}

func (f *Failure) Error() string { return f.Text }

// Unwrap returns the class.
func (f *Failure) Unwrap() error { return f.Class }
