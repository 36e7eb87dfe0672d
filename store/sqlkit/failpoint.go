package sqlkit

import "github.com/postbag/postbag/internal/failpoint"

// Hit passes a point at which tests of faults have a program die, stand still or fail,
// and returns the error that they ask for. In a program built without the tag
// postbag_failpoints it does nothing.
func Hit(point string) error { return failpoint.Hit(point) }
