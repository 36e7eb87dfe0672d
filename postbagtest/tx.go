package postbagtest

// Tx is a transaction of nothing, for tests of code that never sees one.
type Tx struct{}

// TB is what this package needs of a *testing.T, *testing.B or *testing.F.
type TB interface {
	Helper()
	// Fatalf reports and ends the test, by leaving the calling goroutine.
	Fatalf(format string, args ...any)
}
