package gcpacing

import "runtime"

// Size is that of the ballast in bytes. It is never touched, so that the system
// gives it no memory; the heap may grow by twice as much before a collection.
const Size = 16 << 20

// Hold keeps a ballast until release is called. It works on top of GOGC, and
// unlike a larger GOGC it does not let a process with large messages grow several
// times as large. The idea is Ross Engers', "Go memory ballast", 2019.
func Hold() (release func()) {
	weight := make([]byte, Size)
	return func() { runtime.KeepAlive(&weight[0]) }
}
