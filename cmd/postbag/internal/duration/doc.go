// Package duration reads and writes the durations of flags and of configuration
// files: Go's (90s, 1h30m), whole days and weeks beside them (3d, 2w, 1d12h), and
// ISO 8601's (P3D, PT90S, P1DT12H). A day has 24 hours, a week seven days; years
// and months have no length, so they are refused.
package duration
