package postbagtest_test

import "fmt"

// failing stands for a test that an assertion ends.
type failing struct{ text string }

func (*failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f)
}

// failure returns what an assertion says when it ends the test, and "" if it
// does not.
func failure(assert func(*failing)) (text string) {
	f := &failing{}
	defer func() {
		if ended := recover(); ended != nil && ended != any(f) {
			panic(ended)
		}
		text = f.text
	}()
	assert(f)
	return ""
}
