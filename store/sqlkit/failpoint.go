package sqlkit

import "github.com/postbag/postbag/internal/failpoint"

// Hit marks a point at which a test of faults can kill, pause or fail the program. It
// returns the error that the test asks for. In a program built without the tag
// postbag_failpoints it does nothing.
func Hit(point string) error { return failpoint.Hit(point) }
